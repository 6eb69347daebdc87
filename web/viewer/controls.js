// Pointer, wheel and keys move the viewer's camera; a click on a frustum looks through it.

const TURN_RAD_PER_PX = 0.006;
const CLICK_PX = 4;  // a pointer that moved less has clicked

/** Returns nothing; lives as long as the canvas. */
function addControls(viewer) {
  const {canvas, camera} = viewer;
  const pointers = new Map();  // by id: {x, y}
  let travelPx = 0;

  const focalPx = () => camera.intrinsics(canvas.clientWidth, canvas.clientHeight).fx;
  const spread = () => {
    const [a, b] = pointers.values();
    return Math.hypot(a.x - b.x, a.y - b.y);
  };

  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (pointers.size === 0) travelPx = 0;
    pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
  });
  canvas.addEventListener('pointermove', (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) {
      canvas.classList.toggle('over-camera', viewer.viewAt(event.clientX, event.clientY) !== null);
      return;
    }
    const right = event.clientX - last.x, down = event.clientY - last.y;
    travelPx += Math.abs(right) + Math.abs(down);
    const before = pointers.size === 2 ? spread() : 0;
    Object.assign(last, {x: event.clientX, y: event.clientY});
    if (travelPx < CLICK_PX) return;
    viewer.lookingThrough = null;
    if (pointers.size === 2) {
      camera.zoom(before / Math.max(spread(), 1));
      camera.move(right / 2, down / 2, focalPx());
    } else if (event.shiftKey || event.ctrlKey || event.buttons & 6) {
      camera.move(right, down, focalPx());
    } else {
      camera.turn(right * TURN_RAD_PER_PX, down * TURN_RAD_PER_PX);
    }
    viewer.requestDraw(true);
  });
  canvas.addEventListener('pointerup', (event) => {
    pointers.delete(event.pointerId);
    if (travelPx >= CLICK_PX || pointers.size > 0) return;
    const view = viewer.viewAt(event.clientX, event.clientY);
    if (view !== null) viewer.lookThrough(view);
  });
  canvas.addEventListener('pointercancel', (event) => pointers.delete(event.pointerId));
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    viewer.lookingThrough = null;
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? event.deltaY / 40 : event.deltaY;
    camera.zoom(Math.exp(0.06 * Math.max(-6, Math.min(6, lines))));
    viewer.requestDraw(true);
  }, {passive: false});

  const keys = {ArrowLeft: () => camera.turn(0.1, 0), ArrowRight: () => camera.turn(-0.1, 0), ArrowUp: () => camera.turn(0, 0.1),
    ArrowDown: () => camera.turn(0, -0.1), '+': () => camera.zoom(0.9), '=': () => camera.zoom(0.9), '-': () => camera.zoom(1.1),
    r: () => viewer.resetView()};
  canvas.addEventListener('keydown', (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    viewer.lookingThrough = null;
    keys[event.key]();
    viewer.requestDraw(true);
  });
}
