// The camera one looks with: it turns about a point, and can take the place of a photo's camera. Axes as in the scene: x right, y down,
// z forward.

const FREE_VIEW_RAD = 0.9;  // angle that the shorter side of the canvas spans while the lens is not that of a photo

class OrbitCamera {
  constructor() {
    this.sceneSize = 1;
    this.reset([0, 0, 0], 1);
  }

  /** A little behind, right of and above the world's first camera, turned to `center`. */
  reset(center, sceneSize) {
    this.sceneSize = sceneSize;
    const eye = [0.22 * sceneSize, -0.16 * sceneSize, -0.3 * sceneSize];
    const toCenter = subtract(center, eye);
    this.target = center;
    this.distance = Math.hypot(...toCenter) || sceneSize;
    const z = toCenter.every((x) => x === 0) ? [0, 0, 1] : normalized(toCenter);
    const x = Math.abs(z[1]) < 0.999 ? normalized(cross([0, 1, 0], z)) : [1, 0, 0];
    this.worldFromCam = fromColumns(x, cross(z, x), z);
    this.lens = null;  // of a photo: {fx, fy, cx, cy, width, height}, pixels with centres at integers
  }

  get position() { return subtract(this.target, scaled(column(this.worldFromCam, 2), this.distance)); }

  /** Takes the place of a photo's camera; `center` says how far away what it looks at is. */
  lookThrough(camera, center) {
    this.worldFromCam = camera.rotation;
    this.lens = camera;
    const forward = column(camera.rotation, 2);
    this.distance = Math.max(dot(subtract(center, camera.position), forward), 0.1 * this.sceneSize);
    this.target = add(camera.position, scaled(forward, this.distance));
  }

  /** Right and down, in radians, about the world's vertical axis and the camera's horizontal one. */
  turn(rightRad, downRad) {
    const axes = [0, 1, 2].map((i) => turned(column(this.worldFromCam, i), [0, 1, 0], rightRad));
    const tilted = axes.map((axis) => turned(axis, axes[0], -downRad));
    const isUpright = (down) => down[1] > 0.02;
    // Not over the zenith, unless a photo was taken upside down.
    this.worldFromCam = fromColumns(...(isUpright(axes[1]) && !isUpright(tilted[1]) ? axes : tilted));
  }

  /** By pixels of the canvas: what lies at the distance of the target follows the pointer. */
  move(rightPx, downPx, focalPx) {
    const perPx = this.distance / focalPx;
    const shift = add(scaled(column(this.worldFromCam, 0), -rightPx * perPx), scaled(column(this.worldFromCam, 1), -downPx * perPx));
    this.target = add(this.target, shift);
  }

  zoom(factor) {
    this.distance = Math.min(Math.max(this.distance * factor, 1e-3 * this.sceneSize), 1e3 * this.sceneSize);
  }

  /** {fx, fy, cx, cy} in pixels of a canvas with its corner at 0; a photo's picture fills the canvas as far as its shape allows. */
  intrinsics(width, height) {
    if (!this.lens) {
      const focal = Math.min(width, height) / 2 / Math.tan(FREE_VIEW_RAD / 2);
      return {fx: focal, fy: focal, cx: width / 2, cy: height / 2};
    }
    const {fx, fy, cx, cy, width: photoWidth, height: photoHeight} = this.lens;
    const scale = Math.min(width / photoWidth, height / photoHeight);
    return {fx: fx * scale, fy: fy * scale, cx: width / 2 + (cx + 0.5 - photoWidth / 2) * scale,
      cy: height / 2 + (cy + 0.5 - photoHeight / 2) * scale};
  }

  /** Column-major clip_from_world; w is the depth. */
  clipFromWorld(width, height) {
    const {fx, fy, cx, cy} = this.intrinsics(width, height);
    const near = 1e-3 * this.sceneSize, far = 2e3 * this.sceneSize;
    const rows = [
      [2 * fx / width, 0, 2 * cx / width - 1, 0],
      [0, -2 * fy / height, 1 - 2 * cy / height, 0],
      [0, 0, (far + near) / (far - near), -2 * far * near / (far - near)],
      [0, 0, 1, 0]];
    const axes = [0, 1, 2].map((i) => column(this.worldFromCam, i));  // the rows of cam_from_world
    const shift = axes.map((axis) => -dot(axis, this.position));
    const matrix = new Float32Array(16);
    rows.forEach((row, r) => {
      for (let c = 0; c < 3; ++c) matrix[4 * c + r] = row[0] * axes[0][c] + row[1] * axes[1][c] + row[2] * axes[2][c];
      matrix[12 + r] = row[0] * shift[0] + row[1] * shift[1] + row[2] * shift[2] + row[3];
    });
    return matrix;
  }

  /** Direction in the world of the ray through a point of the canvas. */
  rayThrough(x, y, width, height) {
    const {fx, fy, cx, cy} = this.intrinsics(width, height);
    return rotated(this.worldFromCam, [(x - cx) / fx, (y - cy) / fy, 1]);
  }
}
