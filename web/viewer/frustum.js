// The pyramid that stands for a photo's camera.

const FRUSTUM_SHARE = 0.06;  // its height as a part of the scene's size

// Colours that are told apart easily, again and again around the circle.
function viewColor(index) {
  const hue = (index * 137.5 + 210) % 360 / 60, f = hue - Math.floor(hue), low = 0.35;
  const up = low + (1 - low) * f, down = 1 - (1 - low) * f;
  return [[1, up, low], [down, 1, low], [low, 1, up], [low, down, 1], [up, low, 1], [1, low, down]][Math.floor(hue)];
}

class Frustum {
  constructor(camera, sceneSize) {
    const height = FRUSTUM_SHARE * sceneSize;
    const corner = (u, v) => add(camera.position, rotated(camera.rotation,
      [(u - camera.cx) / camera.fx * height, (v - camera.cy) / camera.fy * height, height]));
    const left = -0.5, top = -0.5, right = camera.width - 0.5, bottom = camera.height - 0.5;
    this.apex = camera.position;
    this.base = [corner(left, top), corner(right, top), corner(left, bottom), corner(right, bottom)];
  }

  /** Ends of the lines, for LINES. */
  get lines() {
    const [a, b, c, d] = this.base, o = this.apex;
    return [o, a, o, b, o, c, o, d, a, b, b, d, d, c, c, a];
  }

  /** How far along the ray it is hit, Infinity where it is not. */
  hitBy(origin, direction) {
    const [a, b, c, d] = this.base, o = this.apex;
    const triangles = [[a, b, c], [b, c, d], [o, a, b], [o, b, d], [o, d, c], [o, c, a]];
    return Math.min(...triangles.map((triangle) => rayMeetsTriangle(origin, direction, triangle)));
  }
}
