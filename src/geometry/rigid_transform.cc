#include "geometry/rigid_transform.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pointmap {
namespace {

Point3 rotated(const std::array<double, 9>& r, const Point3& p) {
  return {r[0] * p[0] + r[1] * p[1] + r[2] * p[2], r[3] * p[0] + r[4] * p[1] + r[5] * p[2], r[6] * p[0] + r[7] * p[1] + r[8] * p[2]};
}

}  // namespace

RigidTransform compose(const RigidTransform& c_from_b, const RigidTransform& b_from_a) {
  RigidTransform c_from_a;
  for (size_t column = 0; column < 3; ++column) {
    const Point3 axis =
        rotated(c_from_b.rotation, {b_from_a.rotation[column], b_from_a.rotation[3 + column], b_from_a.rotation[6 + column]});
    for (size_t row = 0; row < 3; ++row) c_from_a.rotation[3 * row + column] = axis[row];
  }
  c_from_a.translation = transform_point(c_from_b, b_from_a.translation);
  return c_from_a;
}

RigidTransform inverse(const RigidTransform& b_from_a) {
  RigidTransform a_from_b;
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column) a_from_b.rotation[3 * row + column] = b_from_a.rotation[3 * column + row];
  }
  const Point3 back = rotated(a_from_b.rotation, b_from_a.translation);
  a_from_b.translation = {-back[0], -back[1], -back[2]};
  return a_from_b;
}

Point3 transform_point(const RigidTransform& b_from_a, const Point3& point_in_a) {
  const Point3 turned = rotated(b_from_a.rotation, point_in_a);
  return {turned[0] + b_from_a.translation[0], turned[1] + b_from_a.translation[1], turned[2] + b_from_a.translation[2]};
}

bool is_finite(const RigidTransform& transform) {
  const auto finite = [](double x) { return std::isfinite(x); };
  return std::ranges::all_of(transform.rotation, finite) && std::ranges::all_of(transform.translation, finite);
}

double rotation_angle_deg(const RigidTransform& b_from_a) {
  // The arc tangent of sine and cosine is exact near 0, where the arc cosine of the trace alone is not.
  const std::array<double, 9>& r = b_from_a.rotation;
  const double sine2 = std::hypot(r[7] - r[5], r[2] - r[6], r[3] - r[1]);
  const double cosine2 = r[0] + r[4] + r[8] - 1;
  return std::atan2(sine2, cosine2) * 180 / std::numbers::pi;
}

}  // namespace pointmap
