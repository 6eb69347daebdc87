// The kept points of all views in one list, as the point cloud formats want them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scene/confidence_filter.h"
#include "scene/scene.h"

namespace pointmap {

struct PointCloud {
  std::vector<float> positions;   // [N, 3] in the camera frame of the first view
  std::vector<uint8_t> colors;    // [N, 3]
  std::vector<float> confidence;  // [N]

  size_t size() const { return confidence.size(); }
};

// View after view, pixels in order. Throws Error{kInvalidArgument} saying why there is none when the selection is empty: a cloud
// without points is never what somebody asked for.
PointCloud gather_points(const Scene& scene, const PointSelection& selection);

// Where most of the points are; stray ones do not count.
struct CloudExtent {
  std::array<double, 3> center = {};  // median per axis
  double diagonal = 0;                // of the box of the middle nine tenths, per axis
};

CloudExtent extent_of(const PointCloud& cloud);

}  // namespace pointmap
