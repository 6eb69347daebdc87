// Rotations as unit quaternions, for the files that hold them so.
#pragma once

#include <array>

namespace pointmap {

struct Quaternion {
  double w = 1;
  double x = 0;
  double y = 0;
  double z = 0;
};

// Of a rotation, 3x3, row-major. Of the two quaternions that mean it, the one whose first number that is not 0 is positive.
Quaternion quaternion_from_rotation(const std::array<double, 9>& rotation);

}  // namespace pointmap
