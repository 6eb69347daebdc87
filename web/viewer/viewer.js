// Draws a scene (points.js says what one is) on a canvas with WebGL 2, and only when something has changed.

const COLORINGS = ['photo', 'view', 'confidence'];
const BACKGROUND = [0.086, 0.094, 0.106];
const SLOW_FRAME_MS = 25;  // while things move, frames that take longer show fewer points
const REST_MS = 200;       // after this without movement all points are drawn
const MAX_STRIDE = 15;     // WebGL allows 255 bytes from vertex to vertex
const NO_WEBGL = 'This page draws its points with WebGL 2, which this browser does not have or has switched off. Any current browser ' +
  'with graphics acceleration shows them; scene.ply and scene.glb open in other programs.';

class Viewer {
  /** Throws when the browser cannot draw with WebGL 2, with a message for people. */
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext('webgl2', {alpha: false, antialias: false});
    if (!this.gl) throw new Error(NO_WEBGL);
    this.camera = new OrbitCamera();
    this.settings = {percentile: 0, pointSize: 1, coloring: 'photo', showFrusta: true};
    this.views = [];
    this.stride = 1;
    this.lookingThrough = null;  // index of a view
    this.numFrames = 0;
    canvas.addEventListener('webglcontextlost', (event) => event.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => this.#upload());
    new ResizeObserver(() => this.requestDraw()).observe(canvas);
  }

  /** data: what decodeScene returned. Shows all its views from the start of its way. */
  setScene(data) {
    this.#release();
    this.data = data;
    this.views = data.views.map((view, index) => ({...view, index, visible: true, color: viewColor(index),
      frustum: view.camera ? new Frustum(view.camera, data.size) : null}));
    this.#upload();
    this.resetView();
  }

  /** Any of percentile, pointSize, coloring, showFrusta. */
  set(settings) {
    Object.assign(this.settings, settings);
    this.requestDraw();
  }

  setVisible(index, visible) {
    this.views[index].visible = visible;
    this.requestDraw();
  }

  resetView() {
    this.lookingThrough = null;
    this.camera.reset(this.data.center, this.data.size);
    this.requestDraw();
  }

  lookThrough(index) {
    this.lookingThrough = index;
    this.camera.lookThrough(this.views[index].camera, this.data.center);
    this.requestDraw();
  }

  /** How many points the settings leave. */
  get numShown() {
    return this.#drawnViews().reduce((sum, view) => sum + view.kept[this.settings.percentile], 0);
  }

  /** Index of the view whose frustum shows at a point of the page, or null. */
  viewAt(clientX, clientY) {
    if (!this.settings.showFrusta) return null;
    const box = this.canvas.getBoundingClientRect();
    const direction = this.camera.rayThrough(clientX - box.left, clientY - box.top, box.width, box.height);
    let nearest = Infinity, found = null;
    for (const {frustum, visible, index} of this.views) {
      if (!frustum || !visible || index === this.lookingThrough) continue;
      const distance = frustum.hitBy(this.camera.position, direction);
      if (distance < nearest) [nearest, found] = [distance, index];
    }
    return found;
  }

  /** moving: more such calls will follow at once, so that speed counts more than completeness. */
  requestDraw(moving = false) {
    this.moving = moving;
    clearTimeout(this.restTimer);
    if (moving) this.restTimer = setTimeout(() => this.requestDraw(), REST_MS);
    this.pending ??= requestAnimationFrame((now) => {
      this.pending = undefined;
      this.#adaptStride(now);
      this.drawNow();
    });
  }

  /** Draws at once. */
  drawNow() {
    const {gl, canvas, camera} = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, {width, height});
    gl.viewport(0, 0, width, height);
    gl.enable(gl.DEPTH_TEST);
    gl.clearColor(...BACKGROUND, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!this.programs) return;
    const clipFromWorld = camera.clipFromWorld(width, height);
    this.#drawPoints(clipFromWorld, camera.intrinsics(width, height).fx);
    if (this.settings.showFrusta) this.#drawFrusta(clipFromWorld);
    ++this.numFrames;
  }

  // The time from one frame of a movement to the next is what a frame costs, as the browser waits for the last one to be done.
  #adaptStride(now) {
    const frameMs = this.moving && this.lastMoving ? now - this.lastFrameAt : 0;
    if (frameMs > SLOW_FRAME_MS) this.stride = Math.min(MAX_STRIDE, this.stride + Math.ceil(frameMs / SLOW_FRAME_MS));
    else if (frameMs > 0 && frameMs < SLOW_FRAME_MS / 2 && this.stride > 1) --this.stride;
    this.lastMoving = this.moving;
    this.lastFrameAt = now;
  }

  #drawnViews() { return this.views.filter((view) => view.visible && view.kept); }

  #drawPoints(clipFromWorld, focalPx) {
    const {gl, settings, programs: {points}} = this;
    const stride = this.moving ? this.stride : 1;
    gl.useProgram(points.program);
    gl.uniformMatrix4fv(points.clip_from_world, false, clipFromWorld);
    gl.uniform1i(points.coloring, COLORINGS.indexOf(settings.coloring));
    for (const view of this.#drawnViews()) {
      const count = Math.ceil(view.kept[settings.percentile] / stride);
      if (count === 0) continue;
      gl.uniform3fv(points.source_in_world, view.camera ? view.camera.position : [0, 0, 0]);
      gl.uniform1f(points.size_factor, settings.pointSize * view.pixel_angle * focalPx * Math.sqrt(stride));
      gl.uniform3fv(points.view_color, view.color);
      gl.bindVertexArray(view.vertexArray);
      gl.bindBuffer(gl.ARRAY_BUFFER, view.buffer);
      gl.vertexAttribPointer(0, 3, gl.FLOAT, false, VERTEX_BYTES * stride, 0);
      gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, VERTEX_BYTES * stride, 12);
      gl.drawArrays(gl.POINTS, 0, count);
    }
  }

  #drawFrusta(clipFromWorld) {
    const {gl, programs: {lines, photos}} = this;
    const drawn = this.views.filter((view) => view.frustum && view.visible);
    gl.useProgram(photos.program);
    gl.uniformMatrix4fv(photos.clip_from_world, false, clipFromWorld);
    for (const view of drawn) {
      if (!view.texture || view.index === this.lookingThrough) continue;
      gl.bindVertexArray(view.photoArray);
      gl.bindTexture(gl.TEXTURE_2D, view.texture);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
    gl.useProgram(lines.program);
    gl.uniformMatrix4fv(lines.clip_from_world, false, clipFromWorld);
    for (const view of drawn) {
      gl.uniform3fv(lines.line_color, view.color);
      gl.bindVertexArray(view.lineArray);
      gl.drawArrays(gl.LINES, 0, 16);
    }
  }

  #upload() {
    const {gl} = this;
    if (!this.data || gl.isContextLost()) return;
    this.programs = {points: buildProgram(gl, POINT_SHADERS), lines: buildProgram(gl, LINE_SHADERS),
      photos: buildProgram(gl, PHOTO_SHADERS)};
    for (const view of this.views) {
      if (view.vertices) [view.vertexArray, view.buffer] = this.#vertexArray(view.vertices, 2);
      if (!view.frustum) continue;
      [view.lineArray, view.lineBuffer] = this.#vertexArray(new Float32Array(view.frustum.lines.flat()), 1);
      [view.photoArray, view.photoBuffer] = this.#vertexArray(new Float32Array(view.frustum.base.flat()), 1);
      if (view.thumbnail) view.texture = this.#texture(view.thumbnail, view.thumbnailRgb);
    }
    this.requestDraw();
  }

  // Positions alone are packed; with colours the layout is set when drawing.
  #vertexArray(data, numAttributes) {
    const {gl} = this;
    const array = gl.createVertexArray(), buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    for (let i = 0; i < numAttributes; ++i) gl.enableVertexAttribArray(i);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    gl.bindVertexArray(null);
    return [array, buffer];
  }

  #texture({width, height}, rgb) {
    const {gl} = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB8, width, height, 0, gl.RGB, gl.UNSIGNED_BYTE, rgb);
    for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) gl.texParameteri(gl.TEXTURE_2D, name, value);
    gl.generateMipmap(gl.TEXTURE_2D);
    return texture;
  }

  #release() {
    const {gl} = this;
    for (const view of this.views) {
      for (const array of [view.vertexArray, view.lineArray, view.photoArray]) gl.deleteVertexArray(array ?? null);
      for (const buffer of [view.buffer, view.lineBuffer, view.photoBuffer]) gl.deleteBuffer(buffer ?? null);
      gl.deleteTexture(view.texture ?? null);
    }
    for (const {program} of Object.values(this.programs ?? {})) gl.deleteProgram(program);
    this.programs = undefined;
  }
}
