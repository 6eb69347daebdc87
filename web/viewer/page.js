// The page that has its scene in it.

function showMessage(text) {
  element('message').textContent = text;
}

function startPage() {
  showMessage('');  // there was one for browsers without JavaScript
  let viewer;
  try {
    viewer = new Viewer(element('canvas'));
  } catch (error) {
    element('viewer').hidden = true;
    showMessage(error.message);
    return;
  }
  viewer.setScene(sceneOfDocument(document));
  for (const script of document.querySelectorAll('.view-data')) script.remove();  // the text of the points is not needed any more
  document.title = `${viewer.data.model || 'scene'} - pointmap`;
  connectPanel(viewer);
  describeScene(viewer);
  addControls(viewer);
  window.viewer = viewer;  // for those who open the console
}

startPage();
