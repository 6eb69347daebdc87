// Three floats and the few rotations that scenes and cameras need. World: z up, in metres. Camera: x right, y down, z forward.
#pragma once

#include <cmath>

namespace pointmap::scene_gen {

struct Vec3 {
  float x = 0, y = 0, z = 0;
};

inline Vec3 operator+(Vec3 a, Vec3 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Vec3 operator-(Vec3 a, Vec3 b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Vec3 operator*(Vec3 a, float s) {
  return {a.x * s, a.y * s, a.z * s};
}
inline Vec3 operator*(Vec3 a, Vec3 b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z};
}
inline float dot(Vec3 a, Vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline Vec3 cross(Vec3 a, Vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline float length(Vec3 a) {
  return std::sqrt(dot(a, a));
}  // sqrt is exact to the last bit everywhere, unlike the rest of libm
inline Vec3 normalized(Vec3 a) {
  return a * (1.0f / length(a));
}
inline Vec3 mix(Vec3 a, Vec3 b, float t) {
  return a * (1.0f - t) + b * t;
}

// Rows are the axes of the frame that the matrix leads to, written in the frame it comes from.
struct Rotation {
  Vec3 row0{1, 0, 0}, row1{0, 1, 0}, row2{0, 0, 1};
};

inline Vec3 operator*(const Rotation& r, Vec3 v) {
  return {dot(r.row0, v), dot(r.row1, v), dot(r.row2, v)};
}
inline Vec3 transposed_times(const Rotation& r, Vec3 v) {
  return r.row0 * v.x + r.row1 * v.y + r.row2 * v.z;
}

}  // namespace pointmap::scene_gen
