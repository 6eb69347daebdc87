#include "geometry/quaternion.h"

#include <algorithm>
#include <cmath>

namespace pointmap {

// Shepperd 1978: start from the largest of the four numbers, so that nothing small is divided by.
Quaternion quaternion_from_rotation(const std::array<double, 9>& r) {
  const double trace = r[0] + r[4] + r[8];
  // Four times the square of w, x, y, z.
  const std::array<double, 4> squares = {1 + trace, 1 + 2 * r[0] - trace, 1 + 2 * r[4] - trace, 1 + 2 * r[8] - trace};
  const auto largest = std::max_element(squares.begin(), squares.end()) - squares.begin();
  std::array<double, 4> q;
  switch (largest) {
    case 0:
      q = {squares[0], r[7] - r[5], r[2] - r[6], r[3] - r[1]};
      break;
    case 1:
      q = {r[7] - r[5], squares[1], r[1] + r[3], r[2] + r[6]};
      break;
    case 2:
      q = {r[2] - r[6], r[1] + r[3], squares[2], r[5] + r[7]};
      break;
    default:
      q = {r[3] - r[1], r[2] + r[6], r[5] + r[7], squares[3]};
      break;
  }
  double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const auto first = std::ranges::find_if(q, [](double x) { return x != 0; });
  if (first != q.end() && *first < 0) length = -length;
  for (double& x : q) x = x / length + 0.0;  // + 0.0: no negative zeros
  return {q[0], q[1], q[2], q[3]};
}

}  // namespace pointmap
