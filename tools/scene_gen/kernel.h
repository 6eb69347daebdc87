// The ray caster, compiled once per instruction set from one source; every version gives the same bits.
#pragma once

#include <cstdint>

#include "scene.h"

namespace pointmap::scene_gen {

inline constexpr int kLanes = 16;

// Scratch for one view, reused from view to view: row-major planes [height rounded up to 4, stride].
struct ViewBuffers {
  float* red;
  float* green;
  float* blue;
  float* depth;
  int32_t* label;  // differs between neighbours with an edge between them: surface, face, lights seen
  int stride;      // width rounded up to kLanes
};

struct Kernel {
  const char* name;
  // Nearest hit along origin + t * direction, t > 0. directions: three planes of `count` floats, count a multiple of kLanes.
  // t is 0 and id kSkyId where nothing is hit.
  void (*trace)(const Scene& scene, Vec3 origin, const float* const directions[3], int count, float* t, int32_t* id);
  // Whether each of the points lies open to `origin`; 1 or 0. A surface's own point counts as seen.
  void (*visible)(const Scene& scene, Vec3 origin, const float* const points[3], int count, int32_t* seen);
  // Renders into rgb [height, width, 3] and depth [height, width]: z along the optical axis, 0 for sky and beyond far_m.
  void (*render)(const Scene& scene, const Camera& camera, const Exposure& exposure, const ViewBuffers& scratch, uint8_t* rgb,
                 float* depth);
};

// The fastest one this processor can run; with `name` ("baseline", "avx2", "avx512") that one, or nullptr where it cannot run.
const Kernel& best_kernel();
const Kernel* kernel_named(const char* name);

}  // namespace pointmap::scene_gen
