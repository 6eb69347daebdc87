#include "geometry/pose_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "geometry/quaternion.h"

namespace pointmap {
namespace {

using testing::HasSubstr;

// A quarter turn to the right at (1, 2, 3): the camera's z is the world's x.
constexpr std::array<double, 16> kQuarter = {0, 0, 1, 1, 0, 1, 0, 2, -1, 0, 0, 3, 0, 0, 0, 1};

TEST(PoseCheck, TakesMatricesAndQuaternionsOfOnePose) {
  const CheckedPose from_matrix = pose_from_matrix(kQuarter);
  EXPECT_EQ(from_matrix.fault, "");
  const double s = std::sqrt(0.5);
  const CheckedPose from_quaternion = pose_from_quaternion({1, 2, 3}, {0, s, 0, s});
  EXPECT_EQ(from_quaternion.fault, "");
  for (const CheckedPose& checked : {from_matrix, from_quaternion}) {
    EXPECT_EQ(checked.pose.translation, (Point3{1, 2, 3}));
    const Point3 ahead = transform_point(checked.pose, {0, 0, 2});
    EXPECT_NEAR(ahead[0], 3, 1e-12);
    EXPECT_NEAR(ahead[1], 2, 1e-12);
    EXPECT_NEAR(ahead[2], 3, 1e-12);
  }
}

TEST(PoseCheck, QuaternionsComeBack) {
  const std::array<double, 4> xyzw = {0.1, -0.7, 0.5, std::sqrt(1 - 0.75)};
  const Quaternion back = quaternion_from_rotation(pose_from_quaternion({}, xyzw).pose.rotation);
  EXPECT_NEAR(back.x, xyzw[0], 1e-12);
  EXPECT_NEAR(back.y, xyzw[1], 1e-12);
  EXPECT_NEAR(back.z, xyzw[2], 1e-12);
  EXPECT_NEAR(back.w, xyzw[3], 1e-12);
}

TEST(PoseCheck, FourDecimalsAreEnoughAndAreMadeExact) {
  const double c = std::round(1e4 * std::cos(0.3)) / 1e4, s = std::round(1e4 * std::sin(0.3)) / 1e4;
  const CheckedPose checked = pose_from_matrix({c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  EXPECT_EQ(checked.fault, "");
  EXPECT_NEAR(checked.pose.rotation[0] * checked.pose.rotation[0] + checked.pose.rotation[3] * checked.pose.rotation[3], 1, 1e-15);
  EXPECT_NEAR(checked.pose.rotation[0], std::cos(0.3), 1e-4);
}

TEST(PoseCheck, SaysWhatIsWrong) {
  const auto with = [](std::initializer_list<std::pair<size_t, double>> changes) {
    std::array<double, 16> matrix = kQuarter;
    for (const auto& [index, value] : changes) matrix[index] = value;
    return pose_from_matrix(matrix).fault;
  };
  EXPECT_THAT(with({{2, -1}}), HasSubstr("left-handed"));
  EXPECT_THAT(with({{2, 2}, {5, 2}, {8, -2}}), HasSubstr("columns are 2 long"));
  EXPECT_THAT(with({{0, 0.5}}), HasSubstr("not orthonormal"));
  EXPECT_THAT(with({{5, 1.01}}), HasSubstr("off by 0.01"));
  EXPECT_THAT(with({{0, NAN}}), HasSubstr("not finite"));
  EXPECT_THAT(with({{15, 2}}), HasSubstr("last row"));
  EXPECT_THAT(with({{3, 0}, {7, 0}, {11, 0}, {12, 1}, {13, 2}, {14, 3}}), HasSubstr("transposed"));
  EXPECT_THAT(pose_from_quaternion({}, {0, 0, 0, 0}).fault, HasSubstr("0 long"));
  EXPECT_THAT(pose_from_quaternion({}, {0, 0, 0, NAN}).fault, HasSubstr("not finite"));
  EXPECT_THAT(pose_from_quaternion({}, {1, 0, 0, 1}).fault, HasSubstr("1.41421 long"));
}

}  // namespace
}  // namespace pointmap
