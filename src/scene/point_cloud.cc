#include "scene/point_cloud.h"

#include <cmath>

#include "base/check.h"
#include "scene/quantile.h"

namespace pointmap {

PointCloud gather_points(const Scene& scene, const PointSelection& selection) {
  POINTMAP_CHECK(selection.num_kept > 0, "no point to export: of " + std::to_string(selection.num_total) + " valid pixels " +
                                             std::to_string(selection.num_nonfinite) + " are not finite, " +
                                             std::to_string(selection.num_invalid) + " more are padding or masked");
  PointCloud cloud;
  cloud.positions.reserve(3 * selection.num_kept);
  cloud.colors.reserve(3 * selection.num_kept);
  cloud.confidence.reserve(selection.num_kept);
  for (size_t i = 0; i < scene.views.size(); ++i) {
    const SceneView& view = scene.views[i];
    for (const size_t pixel : selection.pixels[i]) {
      const float* point = &view.points[3 * pixel];
      const uint8_t* color = &view.image.rgb[3 * pixel];
      cloud.positions.insert(cloud.positions.end(), point, point + 3);
      cloud.colors.insert(cloud.colors.end(), color, color + 3);
      cloud.confidence.push_back(view.confidence[pixel]);
    }
  }
  return cloud;
}

CloudExtent extent_of(const PointCloud& cloud) {
  CloudExtent extent;
  double squares = 0;
  std::vector<float> values(cloud.size());
  for (size_t axis = 0; axis < 3; ++axis) {
    for (size_t i = 0; i < values.size(); ++i) values[i] = cloud.positions[3 * i + axis];
    const double low = quantile(values, 0.05), high = quantile(values, 0.95);
    squares += (high - low) * (high - low);
    extent.center[axis] = quantile(values, 0.5);
  }
  extent.diagonal = std::sqrt(squares);
  return extent;
}

}  // namespace pointmap
