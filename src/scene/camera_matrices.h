// Cameras as the matrices that array files and image headers hold: row-major, for column vectors.
#pragma once

#include <array>

#include "scene/scene.h"

namespace pointmap {

inline std::array<double, 16> matrix4(const RigidTransform& t) {
  const auto& r = t.rotation;
  const auto& p = t.translation;
  return {r[0], r[1], r[2], p[0], r[3], r[4], r[5], p[1], r[6], r[7], r[8], p[2], 0, 0, 0, 1};
}

inline std::array<double, 9> matrix3(const Intrinsics& k) {
  return {k.fx, 0, k.cx, 0, k.fy, k.cy, 0, 0, 1};
}

}  // namespace pointmap
