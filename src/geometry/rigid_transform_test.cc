#include "geometry/rigid_transform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace pointmap {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

constexpr double kEps = 1e-15;  // a few roundings of numbers up to 4

// A quarter turn to the right (about y, which points down) at (1, 2, 3): the camera looks along the world's x.
const RigidTransform kYaw90 = {.rotation = {0, 0, 1, 0, 1, 0, -1, 0, 0}, .translation = {1, 2, 3}};

RigidTransform about_z(double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  return {.rotation = {std::cos(angle), -std::sin(angle), 0, std::sin(angle), std::cos(angle), 0, 0, 0, 1}, .translation = {0.5, -1, 2}};
}

TEST(RigidTransform, TakesAPointFromOneFrameToTheOther) {
  EXPECT_THAT(transform_point(kYaw90, {0, 0, 1}), ElementsAre(2, 2, 3));  // ahead of the camera is along x
  EXPECT_THAT(transform_point(kYaw90, {1, 0, 0}), ElementsAre(1, 2, 2));
  EXPECT_THAT(transform_point(inverse(kYaw90), {1, 2, 3}), ElementsAre(0, 0, 0));
  EXPECT_THAT(transform_point(inverse(kYaw90), {2, 2, 3}), ElementsAre(0, 0, 1));
}

TEST(RigidTransform, ComposesFromRightToLeft) {
  const RigidTransform turn = about_z(30);
  const Point3 point = {0.25, 1, -3};
  EXPECT_THAT(transform_point(compose(kYaw90, turn), point),
              Pointwise(DoubleNear(8 * kEps), transform_point(kYaw90, transform_point(turn, point))));
  const RigidTransform nothing = compose(inverse(turn), turn);
  EXPECT_THAT(nothing.rotation, Pointwise(DoubleNear(kEps), RigidTransform{}.rotation));
  EXPECT_THAT(nothing.translation, Pointwise(DoubleNear(kEps), RigidTransform{}.translation));
}

TEST(RigidTransform, AngleIsExactFromTinyToHalfTurn) {
  EXPECT_EQ(rotation_angle_deg({}), 0);
  EXPECT_DOUBLE_EQ(rotation_angle_deg(kYaw90), 90);
  for (const double degrees : {1e-6, 0.2, 45.0, 120.0, 179.999}) {
    EXPECT_NEAR(rotation_angle_deg(about_z(degrees)), degrees, 1e-13 * (1 + degrees)) << degrees;
    EXPECT_NEAR(rotation_angle_deg(about_z(-degrees)), degrees, 1e-13 * (1 + degrees)) << degrees;
  }
  EXPECT_NEAR(rotation_angle_deg(about_z(180)), 180, 1e-13);
}

}  // namespace
}  // namespace pointmap
