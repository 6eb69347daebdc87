#include "eval/point_grid.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/check.h"
#include "geometry/pinhole.h"
#include "geometry/view_transform.h"

namespace pointmap {
namespace {

PointGrid empty_grid(int width, int height) {
  const size_t values = 3 * static_cast<size_t>(width) * static_cast<size_t>(height);
  return {.width = width, .height = height, .points = std::vector<float>(values, std::numeric_limits<float>::quiet_NaN())};
}

}  // namespace

PointGrid predicted_points(const SceneView& view) {
  PointGrid grid = empty_grid(view.transform.network_width, view.transform.network_height);
  POINTMAP_CHECK(view.points.size() == grid.points.size(), view.source + ": points and picture have different sizes");
  const std::vector<uint8_t> shows_photo = photo_mask(view.transform);
  for (size_t pixel = 0; pixel < shows_photo.size(); ++pixel) {
    if (shows_photo[pixel] != 0) std::copy_n(&view.points[3 * pixel], 3, &grid.points[3 * pixel]);
  }
  return grid;
}

PointGrid true_points(const ViewTruth& truth, const ViewTransform& view, const RigidTransform& frame_from_cam) {
  POINTMAP_CHECK(truth.width == view.oriented_width() && truth.height == view.oriented_height(),
                 "the truth is " + std::to_string(truth.width) + "x" + std::to_string(truth.height) + ", the photo " +
                     std::to_string(view.oriented_width()) + "x" + std::to_string(view.oriented_height()));
  PointGrid grid = empty_grid(view.network_width, view.network_height);
  size_t pixel = 0;
  for (int v = 0; v < grid.height; ++v) {
    for (int u = 0; u < grid.width; ++u, ++pixel) {
      const Pixel network = {static_cast<double>(u), static_cast<double>(v)};
      if (!view.shows_photo(network)) continue;
      const Pixel photo = view.oriented_from_network(network);
      const int x = std::clamp(static_cast<int>(std::lround(photo.u)), 0, truth.width - 1);
      const int y = std::clamp(static_cast<int>(std::lround(photo.v)), 0, truth.height - 1);
      const float depth = truth.depth[static_cast<size_t>(y) * static_cast<size_t>(truth.width) + static_cast<size_t>(x)];
      if (!(std::isfinite(depth) && depth > 0)) continue;
      const Point3 in_cam = unproject(truth.intrinsics, {static_cast<double>(x), static_cast<double>(y)}, depth);
      const Point3 point = transform_point(frame_from_cam, in_cam);
      for (size_t c = 0; c < 3; ++c) grid.points[3 * pixel + c] = static_cast<float>(point[c]);
    }
  }
  return grid;
}

}  // namespace pointmap
