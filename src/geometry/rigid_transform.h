// Rotations with translations, composed so that the frames in the names cancel: c_from_a = c_from_b b_from_a.
#pragma once

#include <array>

#include "pointmap/camera.h"  // IWYU pragma: export

namespace pointmap {

using Point3 = std::array<double, 3>;

RigidTransform compose(const RigidTransform& c_from_b, const RigidTransform& b_from_a);  // c_from_a
RigidTransform inverse(const RigidTransform& b_from_a);                                  // a_from_b
Point3 transform_point(const RigidTransform& b_from_a, const Point3& point_in_a);        // point_in_b

// Of the rotation alone, 0 to 180.
double rotation_angle_deg(const RigidTransform& b_from_a);

}  // namespace pointmap
