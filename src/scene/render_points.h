// A picture of points seen from anywhere: each a small piece of surface, an ellipse in the picture, in a depth buffer. Plain and
// deterministic; for a look at a result without a viewer.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "geometry/pinhole.h"
#include "geometry/rigid_transform.h"
#include "io/image/image.h"

namespace pointmap {

struct PointSplats {
  std::vector<float> positions;   // [N, 3], world
  std::vector<float> tangents_u;  // [N, 3] to the next point to the right, as seen from the front
  std::vector<float> tangents_v;  // [N, 3] to the next point downwards; both zero for a point that has no front
  std::vector<uint8_t> colors;    // [N, 3]

  size_t size() const { return colors.size() / 3; }
};

struct RenderCamera {
  RigidTransform cam_from_world;
  Intrinsics intrinsics;  // in pixels of the picture
  int width = 0;
  int height = 0;
};

// Points cover the surface up to half way to their neighbours, at least a pixel; the nearest is in front, and what lies within its depth is
// blended, so that two views of one surface do not flicker. Points behind the camera, seen from behind or not finite are left out. Sampled
// four times a pixel. Throws Error{kInvalidArgument} for sizes that do not fit.
Image render_points(const PointSplats& splats, const RenderCamera& camera, const std::array<uint8_t, 3>& background);

}  // namespace pointmap
