// Maps of points as evaluation compares them: a prediction's, and the truth's at the same pixels.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "eval/scene_folder.h"
#include "scene/scene.h"

namespace pointmap {

struct PointGrid {
  int width = 0;
  int height = 0;
  std::vector<float> points;  // [H, W, 3]; NaN where there is none

  size_t num_pixels() const { return points.size() / 3; }
  bool has(size_t pixel) const {
    const float* p = &points[3 * pixel];
    return std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]);
  }
  bool same_size(const PointGrid& other) const { return width == other.width && height == other.height; }
};

// The view's points where it shows the photo.
PointGrid predicted_points(const SceneView& view);

// The truth at every pixel of the network's picture: the point of the photo's pixel nearest to it, exactly on that pixel's own ray.
// Throws Error{kInvalidArgument} when truth and photo have different sizes.
PointGrid true_points(const ViewTruth& truth, const ViewTransform& view, const RigidTransform& frame_from_cam);

}  // namespace pointmap
