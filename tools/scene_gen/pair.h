// One training pair: a scene and two photographs of it, decided by (seed, index) alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel.h"
#include "scene.h"

namespace pointmap::scene_gen {

struct PairOptions {
  uint64_t seed = 1;
  int width = 128;
  int height = 96;
  std::optional<Surroundings> kind = {};  // nothing: 70 % rooms, 30 % open ground
};

// What was decided before anything is rendered.
struct PairPlan {
  Scene scene;
  Camera cameras[2];
  Exposure exposures[2];
  // On a grid of rays: of the points each view sees, the share that the other sees too, the smaller of both. At least 0.32, so that the
  // same count over all pixels stays above 0.30.
  float overlap = 0;
  float baseline_over_median_depth = 0;  // the median of view 1
};

// Throws Error{kInvalidArgument} for a size outside 16..4096.
PairPlan plan_pair(const Kernel& kernel, const PairOptions& options, uint64_t index);

struct View {
  std::vector<uint8_t> rgb;  // [height, width, 3]
  std::vector<float> depth;  // [height, width], z along the optical axis in metres, 0 for none
};

// Renders views of one size; one per thread, since it owns the scratch planes.
class Renderer {
 public:
  Renderer(const Kernel& kernel, int width, int height);
  void render(const Scene& scene, const Camera& camera, const Exposure& exposure, View& view);

 private:
  const Kernel& kernel_;
  std::vector<float> planes_;
  std::vector<int32_t> ids_;
  ViewBuffers buffers_;
};

// Row-major [4, 4], OpenCV axes.
void world_from_cam(const Camera& camera, double out[16]);
void cam1_from_cam2(const Camera& camera1, const Camera& camera2, double out[16]);

}  // namespace pointmap::scene_gen
