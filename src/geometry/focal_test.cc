#include "geometry/focal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "geometry/pinhole.h"

namespace pointmap {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The pointmap of the specification, section 6.1: W = 6, H = 4, z = 2 + 0.1 v, x = 0.2 z (u - 2.5), y = 0.2 z (v - 1.5).
std::vector<float> specification_points() {
  std::vector<float> points;
  for (int v = 0; v < 4; ++v) {
    for (int u = 0; u < 6; ++u) {
      const double z = 2 + 0.1 * v;
      points.insert(points.end(),
                    {static_cast<float>(0.2 * z * (u - 2.5)), static_cast<float>(0.2 * z * (v - 1.5)), static_cast<float>(z)});
    }
  }
  return points;
}

// A wavy wall before a camera with this focal length and principal point.
std::vector<float> wall(int width, int height, const Intrinsics& camera) {
  std::vector<float> points;
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      for (const double x : unproject(camera, {static_cast<double>(u), static_cast<double>(v)}, 2 + std::sin(0.1 * u + 0.07 * v))) {
        points.push_back(static_cast<float>(x));
      }
    }
  }
  return points;
}

TEST(Focal, GivesTheNumbersOfTheSpecification) {
  const std::vector<float> points = specification_points();
  const PointmapGrid grid{.points = points, .valid = {}, .width = 6, .height = 4};
  // The points were rounded to float32, the estimate was not.
  EXPECT_NEAR(focal_from_pointmap(grid, {3, 2}, FocalMethod::kWeiszfeld), 5.0, 5e-6);
  EXPECT_NEAR(focal_from_pointmap(grid, {3, 2}, FocalMethod::kMedian), 4.0, 4e-6);
}

TEST(Focal, IsExactForAPinhole) {
  const Intrinsics camera{.fx = 123.25, .fy = 123.25, .cx = 23.5, .cy = 15.5};
  const std::vector<float> points = wall(48, 32, camera);
  const PointmapGrid grid{.points = points, .valid = {}, .width = 48, .height = 32};
  for (const FocalMethod method : {FocalMethod::kMedian, FocalMethod::kWeiszfeld}) {
    // Two roundings to float32 in every ratio.
    EXPECT_NEAR(focal_from_pointmap(grid, {23.5, 15.5}, method), 123.25, 123.25 * std::numeric_limits<float>::epsilon());
  }
}

TEST(Focal, WeiszfeldShrugsOffOutliersAndNonsense) {
  const Intrinsics camera{.fx = 80, .fy = 80, .cx = 24, .cy = 16};
  std::vector<float> points = wall(48, 32, camera);
  for (size_t p = 0; p < 48 * 32; p += 5) points[3 * p + 2] *= 3;  // a fifth is three times too far away
  points[3 * 7] = kNan;
  points[3 * 8 + 2] = 0;  // an infinite slope
  const PointmapGrid grid{.points = points, .valid = {}, .width = 48, .height = 32};
  // Least squares, where the ten steps start, says 84.4.
  EXPECT_NEAR(focal_from_pointmap(grid, {24, 16}, FocalMethod::kWeiszfeld), 80, 80 * 1e-6);
  EXPECT_NEAR(focal_from_pointmap(grid, {24, 16}, FocalMethod::kMedian), 80, 80 * 1e-6);
}

TEST(Focal, LeavesOutWhatTheMaskLeavesOut) {
  const Intrinsics camera{.fx = 80, .fy = 80, .cx = 24, .cy = 16};
  std::vector<float> points = wall(48, 32, camera);
  std::vector<uint8_t> valid(48 * 32, 1);
  for (size_t p = 0; p < 48 * 16; ++p) {  // the upper half is garbage
    valid[p] = 0;
    points[3 * p] = 100;
  }
  const PointmapGrid grid{.points = points, .valid = valid, .width = 48, .height = 32};
  EXPECT_NEAR(focal_from_pointmap(grid, {24, 16}, FocalMethod::kWeiszfeld), 80, 80 * 1e-6);
}

TEST(Focal, SaysNothingWhereThereIsNothing) {
  const std::vector<float> points(3 * 4, kNan);
  const PointmapGrid grid{.points = points, .valid = {}, .width = 2, .height = 2};
  EXPECT_TRUE(std::isnan(focal_from_pointmap(grid, {1, 1}, FocalMethod::kMedian)));
  EXPECT_TRUE(std::isnan(focal_from_pointmap(grid, {1, 1}, FocalMethod::kWeiszfeld)));
  EXPECT_THROW((void)focal_from_pointmap({.points = points, .valid = {}, .width = 3, .height = 2}, {1, 1}, FocalMethod::kMedian), Error);
}

TEST(Focal, IsNeverNegative) {
  std::vector<float> points = specification_points();
  for (size_t p = 0; p < 24; ++p) points[3 * p + 2] = -points[3 * p + 2];  // behind the camera
  const PointmapGrid grid{.points = points, .valid = {}, .width = 6, .height = 4};
  EXPECT_EQ(focal_from_pointmap(grid, {3, 2}, FocalMethod::kWeiszfeld), 0);
}

TEST(Focal, DefaultIsSixtyDegreesWide) {
  EXPECT_NEAR(default_focal(512, 384), 443.405, 0.001);
  EXPECT_EQ(default_focal(384, 512), default_focal(512, 384));
}

}  // namespace
}  // namespace pointmap
