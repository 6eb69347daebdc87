// The slow, obvious ray caster that tests hold the fast one against: one ray, double precision, every solid, textbook formulas.
#pragma once

#include "scene.h"

namespace pointmap::scene_gen {

struct ReferenceHit {
  double t = 0;       // along the direction; 0: nothing
  int id = kSkyId;    // as in scene.h
  double cosine = 1;  // between the ray and the surface's normal
};

struct DoubleVec {
  double x, y, z;
};

ReferenceHit reference_trace(const Scene& scene, DoubleVec origin, DoubleVec direction);

// World direction through a pixel, z = 1 in the camera's frame.
DoubleVec reference_direction(const Camera& camera, double pixel_x, double pixel_y);

}  // namespace pointmap::scene_gen
