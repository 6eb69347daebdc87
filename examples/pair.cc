// The whole library in one screen: two photos in, the confident half of the points out as text.
//   pair MODEL LEFT RIGHT > points.xyz
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <vector>

#include "pointmap/pointmap.h"

namespace {

// Confidence that half of the pixels reach.
float median_confidence(const pointmap::SceneView& view) {
  std::vector<float> sorted = view.confidence;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  return sorted[sorted.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: pair MODEL LEFT RIGHT\n";
    return 2;
  }
  try {
    pointmap::Reconstructor reconstructor = pointmap::Reconstructor::open(argv[1]);
    std::cerr << "weights: " << reconstructor.model().license << "\n";

    pointmap::CancelFlag cancel;  // another thread may call cancel.request()
    const pointmap::Progress progress{
        .on_step = [](std::string_view stage, int done, int total) { std::cerr << stage << " " << done << "/" << total << "\n"; },
        .cancel = &cancel};
    const pointmap::Reconstruction run =
        reconstructor.reconstruct({{.name = argv[2], .bytes = {}}, {.name = argv[3], .bytes = {}}}, {.progress = progress});

    // Every view's points are in the camera frame of the first: x right, y down, z forward, unknown scale.
    for (const pointmap::SceneView& view : run.scene.views) {
      const float threshold = median_confidence(view);
      for (size_t i = 0; i < view.confidence.size(); ++i) {
        if (view.confidence[i] < threshold) continue;
        std::printf("%g %g %g\n", static_cast<double>(view.points[3 * i]), static_cast<double>(view.points[3 * i + 1]),
                    static_cast<double>(view.points[3 * i + 2]));
      }
    }
    std::cerr << "took " << run.report.total_ms() << " ms\n";
  } catch (const pointmap::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
