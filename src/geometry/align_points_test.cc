// Known rotations, scales and shifts found again; mirrors refused; noise averaged.
#include "geometry/align_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "base/error.h"

namespace pointmap {
namespace {

RigidTransform about_y(double degrees) {
  const double a = degrees * std::numbers::pi / 180;
  return {.rotation = {std::cos(a), 0, std::sin(a), 0, 1, 0, -std::sin(a), 0, std::cos(a)}, .translation = {3, -1, 0.5}};
}

double angle_between(const std::array<double, 9>& a, const std::array<double, 9>& b) {
  return rotation_angle_deg(compose(inverse({.rotation = a, .translation = {}}), {.rotation = b, .translation = {}}));
}

struct Points {
  std::vector<float> in_a;
  std::vector<float> in_b;
};

Points points_of(const RigidTransform& b_from_a, double scale, double noise, int count = 1000) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(-2, 2);
  std::normal_distribution<double> error(0, 1);
  Points points;
  for (int i = 0; i < count; ++i) {
    const Point3 a = {place(random), place(random), 3 + place(random)};
    const Point3 b = transform_point({.rotation = b_from_a.rotation, .translation = {}}, a);
    for (size_t c = 0; c < 3; ++c) {
      points.in_a.push_back(static_cast<float>(a[c]));
      points.in_b.push_back(static_cast<float>(scale * b[c] + b_from_a.translation[c] + noise * error(random)));
    }
  }
  return points;
}

TEST(AlignPoints, FindsRotationScaleAndShift) {
  for (const double degrees : {0.0, 25.0, 170.0, -90.0}) {
    const RigidTransform truth = about_y(degrees);
    const Points points = points_of(truth, 2.5, 0);
    const PointMoments moments = moments_of(points.in_a, points.in_b, {});
    EXPECT_EQ(moments.count, 1000u);
    const Similarity found = similarity_with(nearest_rotation(moments.covariance), moments);
    // Points are float: each is off by a few 1e-7 of its size, a thousand of them by less.
    EXPECT_LE(angle_between(found.b_from_a.rotation, truth.rotation), 1e-5);
    EXPECT_NEAR(found.scale, 2.5, 1e-6);
    for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(found.b_from_a.translation[c], truth.translation[c], 1e-5);
  }
}

TEST(AlignPoints, AveragesNoise) {
  const RigidTransform truth = about_y(25);
  const Points points = points_of(truth, 1, 0.3, 10'000);
  const PointMoments moments = moments_of(points.in_a, points.in_b, {});
  // Points spread by 1.2 about their mean, each turned by 0.3 / 1.2 rad: ten thousand of them by a hundredth of that, and three axes.
  EXPECT_LE(angle_between(nearest_rotation(moments.covariance), truth.rotation), 3 * 0.3 / 1.2 / 100 * 180 / std::numbers::pi);
}

TEST(AlignPoints, LeavesOutWhatIsNotValidOrNotFinite) {
  Points points = points_of(about_y(25), 1, 0);
  const PointMoments clean = moments_of(std::span(points.in_a).subspan(6), std::span(points.in_b).subspan(6), {});
  points.in_a[1] = std::numeric_limits<float>::quiet_NaN();
  points.in_b[3] = 1000;
  std::vector<uint8_t> valid(1000, 1);
  valid[1] = 0;
  const PointMoments moments = moments_of(points.in_a, points.in_b, valid);
  EXPECT_EQ(moments.count, 998u);
  EXPECT_EQ(moments.covariance, clean.covariance);
  EXPECT_EQ(moments_of({}, {}, {}).count, 0u);
  EXPECT_THROW((void)moments_of(points.in_a, std::span(points.in_b).first(3), {}), Error);
}

TEST(AlignPoints, IsARotationEvenForAMirror) {
  const std::array<double, 9> mirror = {1, 0, 0, 0, 1, 0, 0, 0, -0.5};
  const std::array<double, 9> rotation = nearest_rotation(mirror);
  const std::array<double, 9> identity = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  EXPECT_LE(angle_between(rotation, identity), 1e-6);
}

TEST(AlignPoints, TheMeanOfTwoRotationsIsHalfWay) {
  std::array<double, 9> sum = about_y(10).rotation;
  for (size_t i = 0; i < 9; ++i) sum[i] += about_y(40).rotation[i];
  EXPECT_LE(angle_between(nearest_rotation(sum), about_y(25).rotation), 1e-6);
}

TEST(AlignPoints, OnePlaceHasNoScale) {
  const std::vector<float> one = {1, 2, 3, 1, 2, 3};
  const PointMoments moments = moments_of(one, one, {});
  EXPECT_EQ(similarity_with(nearest_rotation(moments.covariance), moments).scale, 0);
}

}  // namespace
}  // namespace pointmap
