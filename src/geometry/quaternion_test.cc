#include "geometry/quaternion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace pointmap {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

constexpr double kEps = 4e-16;  // a few roundings of numbers up to 1

std::array<double, 4> numbers_of(const Quaternion& q) {
  return {q.w, q.x, q.y, q.z};
}

// Rodrigues: independent of quaternions.
std::array<double, 9> about(std::array<double, 3> axis, double angle) {
  const auto [x, y, z] = axis;
  const double c = std::cos(angle), s = std::sin(angle), k = 1 - c;
  return {c + x * x * k,     x * y * k - z * s, x * z * k + y * s,  //
          y * x * k + z * s, c + y * y * k,     y * z * k - x * s,  //
          z * x * k - y * s, z * y * k + x * s, c + z * z * k};
}

TEST(Quaternion, HasHalfTheAngleOnTheAxis) {
  const double third = 1 / std::sqrt(3.0);
  for (const std::array<double, 3>& axis : {std::array<double, 3>{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.6, 0, -0.8}, {third, -third, third}}) {
    for (const double degrees : {0.0, 1e-6, 30.0, 90.0, 120.0, 179.0, 180.0, 200.0, 330.0}) {
      const double half = degrees * std::numbers::pi / 360;
      std::array<double, 4> want = {std::cos(half), std::sin(half) * axis[0], std::sin(half) * axis[1], std::sin(half) * axis[2]};
      if (want[0] < -kEps) {
        for (double& x : want) x = -x;
      }
      // At half a turn rounding alone decides between the two axes.
      const std::array<double, 4> got = numbers_of(quaternion_from_rotation(about(axis, 2 * half)));
      std::array<double, 4> opposite = want;
      for (double& x : opposite) x = -x;
      if (degrees == 180) {
        EXPECT_THAT(got, testing::AnyOf(Pointwise(DoubleNear(kEps), want), Pointwise(DoubleNear(kEps), opposite)));
      } else {
        EXPECT_THAT(got, Pointwise(DoubleNear(kEps), want)) << degrees;
      }
    }
  }
}

TEST(Quaternion, ItsFirstNumberThatIsNotZeroIsPositive) {
  EXPECT_THAT(numbers_of(quaternion_from_rotation({1, 0, 0, 0, -1, 0, 0, 0, -1})), testing::ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(numbers_of(quaternion_from_rotation({-1, 0, 0, 0, 1, 0, 0, 0, -1})), testing::ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(numbers_of(quaternion_from_rotation({-1, 0, 0, 0, -1, 0, 0, 0, 1})), testing::ElementsAre(0, 0, 0, 1));
  // Half a turn about (-0.6, 0.8, 0), which is also one about (0.6, -0.8, 0).
  EXPECT_THAT(numbers_of(quaternion_from_rotation({-0.28, -0.96, 0, -0.96, 0.28, 0, 0, 0, -1})),
              Pointwise(DoubleNear(kEps), std::array<double, 4>{0, 0.6, -0.8, 0}));
}

}  // namespace
}  // namespace pointmap
