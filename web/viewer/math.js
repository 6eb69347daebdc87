// Vectors are arrays of 3, rotations 3x3 row-major arrays of 9, matrices for WebGL 4x4 column-major arrays of 16.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const normalized = (a) => scaled(a, 1 / Math.hypot(...a));

const column = (r, i) => [r[i], r[3 + i], r[6 + i]];
const fromColumns = (x, y, z) => [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]];
const rotated = (r, v) => [dot(r.slice(0, 3), v), dot(r.slice(3, 6), v), dot(r.slice(6, 9), v)];

/** `v` turned about the unit vector `axis`, right-handed (Rodrigues). */
function turned(v, axis, angleRad) {
  const c = Math.cos(angleRad), s = Math.sin(angleRad);
  return add(add(scaled(v, c), scaled(cross(axis, v), s)), scaled(axis, dot(axis, v) * (1 - c)));
}

/** Where the ray origin + t direction, t > 0, meets the triangle: t, or Infinity (Moeller and Trumbore). */
function rayMeetsTriangle(origin, direction, [a, b, c]) {
  const edge1 = subtract(b, a), edge2 = subtract(c, a);
  const p = cross(direction, edge2), determinant = dot(edge1, p);
  if (determinant === 0) return Infinity;
  const from = subtract(origin, a), u = dot(from, p) / determinant;
  const q = cross(from, edge1), v = dot(direction, q) / determinant;
  const t = dot(edge2, q) / determinant;
  return u >= 0 && v >= 0 && u + v <= 1 && t > 0 ? t : Infinity;
}
