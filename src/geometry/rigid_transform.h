// Rotations with translations. What to do with them is public, pointmap/camera.h, but for points.
#pragma once

#include <array>

#include "pointmap/camera.h"  // IWYU pragma: export

namespace pointmap {

using Point3 = std::array<double, 3>;

Point3 transform_point(const RigidTransform& b_from_a, const Point3& point_in_a);  // point_in_b

// No NaN, no infinity: networks can say both.
bool is_finite(const RigidTransform& transform);

}  // namespace pointmap
