// The page around the viewer: reads the scene that is in the page, and ties the panel to it.

const element = (id) => document.getElementById(id);
const wholeNumber = (n) => n.toLocaleString('en');

function showMessage(text) {
  element('message').textContent = text;
}

function updateCount(viewer) {
  const {num_points: kept, num_total: total} = viewer.data;
  const thinned = kept < viewer.data.num_finite ? `; thinned from ${wholeNumber(viewer.data.num_finite)}` : '';
  element('count').textContent = `${wholeNumber(viewer.numShown)} of ${wholeNumber(kept)} points`;
  element('count').title = `${wholeNumber(total)} pixels show a photo${thinned}`;
}

// Texts come from files and their names: textContent only.
function addViewEntry(viewer, view) {
  const entry = document.createElement('li');
  const label = document.createElement('label');
  const name = view.source.split(/[/\\]/).pop() || view.source;
  label.title = view.reason ? `${view.source}: ${view.reason}` : view.source;
  if (view.kept) {
    const box = Object.assign(document.createElement('input'), {type: 'checkbox', checked: true});
    const swatch = document.createElement('i');
    swatch.style.background = `rgb(${view.color.map((c) => Math.round(255 * c)).join(' ')})`;
    box.addEventListener('change', () => {
      viewer.setVisible(view.index, box.checked);
      updateCount(viewer);
    });
    label.append(box, ' ', swatch, ` ${view.index + 1} ${name}`);
  } else {
    label.className = 'off';
    label.append(`${view.index + 1} ${name}: ${view.status}`);
  }
  entry.append(label);
  if (view.camera) {
    const look = Object.assign(document.createElement('button'), {type: 'button', textContent: 'look', title: 'Look through this camera'});
    look.addEventListener('click', () => viewer.lookThrough(view.index));
    entry.append(look);
  }
  element('views').append(entry);
}

function addSlider(id, show, changed) {
  const slider = element(id);
  const update = () => {
    element(`${id}-value`).textContent = show(slider.valueAsNumber);
    changed(slider.valueAsNumber);
  };
  slider.addEventListener('input', update);
  update();
}

function addPanel(viewer) {
  const {data} = viewer;
  element('title').textContent = `${data.model || 'scene'}, ${data.views.length} view${data.views.length === 1 ? '' : 's'}`;
  document.title = `${data.model || 'scene'} - pointmap`;
  element('facts').textContent = `model ${data.model || 'unknown'} · points from ${data.points_from} · ${data.convention} · ${data.scale}` +
    ` · ${data.generator}`;
  element('percentile').value = data.percentile;
  addSlider('percentile', (value) => value, (value) => {
    viewer.set({percentile: value});
    updateCount(viewer);
  });
  addSlider('point-size', (value) => `x ${(2 ** value).toFixed(1)}`, (value) => viewer.set({pointSize: 2 ** value}));
  element('coloring').addEventListener('change', (event) => viewer.set({coloring: event.target.value}));
  element('frusta').addEventListener('change', (event) => viewer.set({showFrusta: event.target.checked}));
  element('reset').addEventListener('click', () => viewer.resetView());
  viewer.views.forEach((view) => addViewEntry(viewer, view));
}

function startPage() {
  showMessage('');  // there was one for browsers without JavaScript
  let viewer;
  try {
    viewer = new Viewer(element('canvas'));
  } catch (error) {
    element('panel').hidden = true;
    showMessage('This page draws its points with WebGL 2, which this browser does not have or has switched off. Any current browser ' +
      'with graphics acceleration shows them; scene.ply and scene.glb open in other programs.');
    return;
  }
  const info = JSON.parse(element('scene').textContent);
  viewer.setScene(decodeScene(info, (index) => bytesFromBase64(element(`view-${index + 1}`).textContent)));
  for (const script of document.querySelectorAll('.view-data')) script.remove();  // the text of the points is not needed any more
  addPanel(viewer);
  addControls(viewer);
  window.viewer = viewer;  // for those who open the console
}

startPage();
