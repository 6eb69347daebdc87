// The panel beside the canvas: its sliders and boxes set the viewer, its texts say what is shown. One for each page, for any number of
// scenes one after the other.

const element = (id) => document.getElementById(id);
const wholeNumber = (n) => n.toLocaleString('en');

function updateCount(viewer) {
  const {num_points: kept, num_total: total} = viewer.data;
  const thinned = kept < viewer.data.num_finite ? `; thinned from ${wholeNumber(viewer.data.num_finite)}` : '';
  element('count').textContent = `${wholeNumber(viewer.numShown)} of ${wholeNumber(kept)} points`;
  element('count').title = `${wholeNumber(total)} pixels show a photo${thinned}`;
}

// Texts come from files and their names: textContent only.
function viewEntry(viewer, view) {
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
  return entry;
}

function connectSlider(id, show, changed) {
  const slider = element(id);
  slider.addEventListener('input', () => {
    element(`${id}-value`).textContent = show(slider.valueAsNumber);
    changed(slider.valueAsNumber);
  });
}

/** Once for each page, when its viewer has a first scene. */
function connectPanel(viewer) {
  connectSlider('percentile', (value) => value, (value) => {
    viewer.set({percentile: value});
    updateCount(viewer);
  });
  connectSlider('point-size', (value) => `x ${(2 ** value).toFixed(1)}`, (value) => viewer.set({pointSize: 2 ** value}));
  element('coloring').addEventListener('change', (event) => viewer.set({coloring: event.target.value}));
  element('frusta').addEventListener('change', (event) => viewer.set({showFrusta: event.target.checked}));
  element('reset').addEventListener('click', () => viewer.resetView());
}

/** After each setScene. What the person chose for all scenes stays; the threshold is the scene's own. */
function describeScene(viewer) {
  const {data} = viewer;
  element('title').textContent = `${data.model || 'scene'}, ${data.views.length} view${data.views.length === 1 ? '' : 's'}`;
  element('facts').textContent = `model ${data.model || 'unknown'} · points from ${data.points_from} · ${data.convention} · ${data.scale}` +
    ` · ${data.generator}`;
  element('percentile').value = data.percentile;
  for (const id of ['percentile', 'point-size']) element(id).dispatchEvent(new Event('input'));
  for (const id of ['coloring', 'frusta']) element(id).dispatchEvent(new Event('change'));  // browsers may have kept a reloaded page's boxes
  element('views').replaceChildren(...viewer.views.map((view) => viewEntry(viewer, view)));
}
