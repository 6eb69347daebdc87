// The kept points of every view as a surface: neighbouring pixels joined by triangles, each view a sheet of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "scene/confidence_filter.h"
#include "scene/point_cloud.h"
#include "scene/scene.h"

namespace pointmap {

struct SurfaceMesh {
  PointCloud vertices;              // the kept points that are in a triangle, in gather_points' order
  std::vector<uint32_t> triangles;  // [T, 3] places in `vertices`; counter-clockwise as the view's camera sees them
};

// Two triangles for every square of four kept pixels, cut along the diagonal that is shorter in space, one where three are kept. Triangles
// with a side that no surface spans are left out: longer, at the end nearer to the camera, than 12 times what is usual between pixels of
// that view at that distance (see UsualSpacing), as between a near and a far thing. Throws Error{kInvalidArgument} when nothing is left,
// Error{kLimitExceeded} beyond 2^32 - 2 points.
SurfaceMesh surface_mesh(const Scene& scene, const PointSelection& selection);

}  // namespace pointmap
