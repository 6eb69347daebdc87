// The page at /: photos to the server, progress from it, and its scene into the viewer.

const FORMATS = 'html,npz,ply,glb';
const ABOUT_FILES = {
  'scene.html': 'this view as a page of its own, for any browser',
  'scene.glb': 'points and cameras, for 3D programs',
  'scene.ply': 'points, for 3D programs',
  'scene.npz': 'everything the model said, for NumPy',
  'report.json': 'what was done, and how long it took',
};

let info = null;      // what the server says about itself
let isReady = false;  // its models are loaded
let running = null;   // AbortController of the job that is sent or watched
let viewer = null;

const photos = new PhotoList(element('photos'), updateForm);

function say(id, text) {
  if (element(id).textContent !== text) element(id).textContent = text;  // what is written again is read out again
}

// The server's messages begin in small letters; names of fields, which become those of files, stay as they are.
const sentence = (text) => text.replace(/^(?!image)./, (first) => first.toUpperCase()) + (/[.!?]$/.test(text) ? '' : '.');

// The server counts photos, people call them by their names.
const withNames = (text, sent) => text.replace(/images\[(\d+)\]/g, (field, index) => sent[index]?.file.name ?? field);

const chosenModel = () => info.models.find(({name}) => name === element('model').value);

// Why the request cannot be sent as it is; empty when it can.
function obstacle() {
  const {limits} = info, model = chosenModel(), count = photos.photos.length;
  const wanted = model.family === 'vggt' ? limits.max_views : 2;
  if (count === 0) return wanted === 2 ? 'Add two photos of one scene.' : `Add up to ${wanted} photos of one scene.`;
  if (model.family !== 'vggt' && count < 2) return `${model.name} takes two photos: add one more.`;
  if (count > wanted) return `${model.name} takes ${wanted === 2 ? 'two' : `at most ${wanted}`} photos here: remove ${count - wanted}.`;
  const spare = 1000 * (count + 1);  // of the form itself
  if (photos.numBytes + spare > limits.max_body_bytes)
    return `These photos have ${byteCount(photos.numBytes)}; this server takes ${byteCount(limits.max_body_bytes)} at once.`;
  return '';
}

function updateForm() {
  const why = info ? obstacle() : '';
  element('clear').hidden = photos.photos.length === 0;
  element('start').disabled = !info || !isReady || running !== null || why !== '';
  say('hint', running ? '' : why);
}

function updateModel() {
  const {license, parameters, notes} = chosenModel();
  say('model-facts', [`Licence of its weights: ${license}`, `${(parameters / 1e6).toFixed(1)} million parameters`, ...notes].join('. ') + '.');
  updateForm();
}

// ---- The server

function showModels() {
  element('model').replaceChildren(...info.models.map(({name}) => made('option', {value: name}, name)));
  updateModel();
}

function askForKey(problem) {
  element('key-form').hidden = false;
  say('key-problem', apiKey.get() ? sentence(problem) : '');
  say('server-state', '');
  element('key').focus();
}

const WAITING = {loading: 'The server is loading its models. Photos can be chosen meanwhile.', draining: 'The server is shutting down.'};

// Until the server is ready for jobs, or wants a key.
async function connect() {
  isReady = false;
  for (;; await pause(ASK_AGAIN_MS)) {
    try {
      if (!info) {
        info = await (await ask('info')).json();
        element('key-form').hidden = true;
        showModels();
      }
      await ask('health');
      break;
    } catch (error) {
      if (error.status === 401) return askForKey(error.message);
      say('server-state', WAITING[error.code] ?? `${sentence(error.message)} Asking again.`);
    }
  }
  say('server-state', '');
  isReady = true;
  updateForm();
}

// ---- A job

// share: 0 to 1, or null where nobody knows.
function showProgress(state, share = null, detail = '') {
  say('state', state);
  element('detail').textContent = detail;
  if (share === null) element('bar').removeAttribute('value');
  else element('bar').value = share;
}

function showJob({state, queue_position: position, stage}) {
  if (state === 'queued') return showProgress(position ? `Waiting: ${position} job${position > 1 ? 's are' : ' is'} before this one` : 'Waiting: next in line');
  if (!stage) return showProgress('Running');
  showProgress(`Running: ${stage.name.replaceAll('_', ' ')}`, stage.done / Math.max(stage.total, 1), `${stage.done} of ${stage.total}`);
}

// Below the button with the photo's name, and at the photo.
function showError(error, sent) {
  if (error.status === 401) {
    info = null;
    askForKey(error.message);
    return;
  }
  if (error.code === 'loading') connect();
  const [, index = -1] = /^images\[(\d+)\]$/.exec(error.field ?? '') ?? [];
  const photo = sent[index];
  if (photo) photo.problem.textContent = withNames(sentence(error.message.replace(/^images\[\d+\]: /, '')), sent);
  const request = error.status >= 500 && error.requestId ? ` (Request ${error.requestId}.)` : '';
  say('problem', withNames(sentence(error.message), sent) + request);
}

async function download(path, name) {
  const blob = await (await ask(path)).blob();
  const link = made('a', {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);  // nobody tells when it is written
}

// A link where it suffices, as it goes straight to the disk; it cannot send a key.
function downloadEntry(job, {name, bytes}) {
  const path = `v1/jobs/${job.id}/artifacts/${name}`;
  const link = made('a', {href: path, download: name}, name);
  link.addEventListener('click', (event) => {
    if (!apiKey.get()) return;
    event.preventDefault();
    download(path, name).catch((error) => showError(error, []));
  });
  return made('li', {}, link, made('span', {className: 'fine'}, ` ${byteCount(bytes)}${name in ABOUT_FILES ? `, ${ABOUT_FILES[name]}` : ''}`));
}

function showResult(job, sent) {
  say('result-title', sent.map(({file}) => file.name).join(', '));
  say('result-facts', `${job.model}, ${(job.run_ms / 1000).toFixed(1)} s`);
  element('downloads').replaceChildren(...job.artifacts.map((artifact) => downloadEntry(job, artifact)));
  say('kept', `The server keeps these for ${Math.round(info.limits.results_ttl_s / 60)} minutes.`);
  element('notes').replaceChildren(...job.notes.map((note) => made('li', {}, withNames(note, sent))));
  element('result').hidden = false;
}

// scene.html has everything in it that a viewer needs. It is parsed, not run: DOMParser's documents have no scripts that work. What stands
// before the scene's elements is left out, as our policy would complain about its style.
async function fetchScene(job, sent, signal) {
  const text = await (await ask(`v1/jobs/${job.id}/artifacts/scene.html`, {signal})).text();
  const elements = text.slice(text.indexOf('<script type="text/plain" class="view-data"'));
  const scene = sceneOfDocument(new DOMParser().parseFromString(elements, 'text/html'));
  scene.views.forEach((view, index) => { view.source = sent[index]?.file.name ?? view.source; });
  return scene;
}

function showScene(scene) {
  document.body.classList.add('has-scene');
  element('picture').hidden = false;
  const isFirst = viewer === null;
  try {
    viewer ??= window.viewer = new Viewer(element('canvas'));  // window: for those who open the console
    viewer.setScene(scene);
  } catch (error) {
    element('viewer').hidden = true;
    say('no-picture', error.message);
    return;
  }
  if (isFirst) {
    connectPanel(viewer);
    addControls(viewer);
    element('panel').open = element('viewer').clientWidth >= 640;
  }
  describeScene(viewer);
  element('picture').scrollIntoView({block: 'nearest'});
}

// cancellable(id): the job that is to be stopped when the signal comes; null: none any more.
async function runJob(sent, signal, cancellable) {
  const form = new FormData();
  for (const {file} of sent) form.append('images', file);
  form.append('options', JSON.stringify({model: element('model').value, formats: FORMATS, wait: false}));
  const onProgress = (loaded, total) => showProgress('Sending the photos', loaded / total, `${Math.round(100 * loaded / total)} %`);
  showProgress('Sending the photos');
  const {id} = await postForm('v1/reconstruct', form, {onProgress, signal});
  cancellable(id);
  signal.throwIfAborted();
  const lost = () => showProgress('The server does not answer. Asking again');
  const job = await followJob(id, {changed: showJob, lost, signal});
  if (job.state !== 'done') throw new ServerError(0, job.error ?? {message: 'the job was cancelled'});
  cancellable(null);
  showResult(job, sent);
  showProgress('Fetching the points');
  showScene(await fetchScene(job, sent, signal));
}

async function reconstruct() {
  const sent = [...photos.photos];
  const {signal} = running = new AbortController();
  let id = null;
  for (const {problem} of sent) problem.textContent = '';
  say('problem', '');
  element('progress').hidden = false;
  updateForm();
  try {
    await runJob(sent, signal, (given) => { id = given; });
  } catch (error) {
    if (signal.aborted) {
      say('problem', 'Cancelled.');
      if (id) ask(`v1/jobs/${id}`, {method: 'DELETE'}).catch(() => {});  // it may have ended by itself
    } else {
      showError(error, sent);
    }
  }
  running = null;
  element('progress').hidden = true;
  updateForm();
}

// ---- The person

function start() {
  const take = (files) => photos.add(files);
  element('files').addEventListener('change', (event) => {
    take(event.target.files);
    event.target.value = '';  // so that the same file can be chosen again
  });
  takeDrops((over) => element('drop').classList.toggle('over', over), take,
    (names) => say('problem', `Folders are not taken, only photos: ${names.join(', ')}.`));
  element('clear').addEventListener('click', () => {
    photos.clear();
    element('files').focus();
  });
  element('model').addEventListener('change', updateModel);
  element('job-form').addEventListener('submit', (event) => {
    event.preventDefault();
    if (!element('start').disabled) reconstruct();
  });
  element('cancel').addEventListener('click', () => running?.abort());
  element('key-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const key = element('key').value.trim();
    if (!/^[\x20-\x7e]+$/.test(key)) return say('key-problem', 'A key has only plain letters, digits and signs.');
    apiKey.set(key);
    element('key').value = '';
    connect();
  });
  connect();
}

start();
