// Against cameras that are known: points are made from a depth per pixel, so every number has its truth.
#include "geometry/pnp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "base/error.h"
#include "geometry/pinhole.h"

namespace pointmap {
namespace {

constexpr Intrinsics kCamera = {.fx = 300, .fy = 300, .cx = 127.5, .cy = 95.5};
constexpr int kWidth = 256;
constexpr int kHeight = 192;

// A rotation of `degrees` about a crooked axis, standing at `centre` in the world.
RigidTransform crooked_camera(double degrees, const Point3& centre) {
  const Point3 n = {0.36, 0.48, 0.8};  // of length 1
  const double angle = degrees * std::numbers::pi / 180;
  const double c = std::cos(angle), s = std::sin(angle), d = 1 - c;
  return {.rotation = {c + n[0] * n[0] * d, n[0] * n[1] * d - n[2] * s, n[0] * n[2] * d + n[1] * s,  //
                       n[1] * n[0] * d + n[2] * s, c + n[1] * n[1] * d, n[1] * n[2] * d - n[0] * s,  //
                       n[2] * n[0] * d - n[1] * s, n[2] * n[1] * d + n[0] * s, c + n[2] * n[2] * d},
          .translation = centre};
}

// Every fourth pixel of the camera with a point of the world, `outliers` of them (0 to 1) somewhere else entirely.
PnpPoints scattered(const RigidTransform& world_from_cam, double outliers, size_t* num_outliers = nullptr) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  PnpPoints result;
  size_t moved = 0;
  for (int v = 0; v < kHeight; v += 4) {
    for (int u = 0; u < kWidth; u += 4) {
      const Pixel pixel{static_cast<double>(u), static_cast<double>(v)};
      Point3 point = transform_point(world_from_cam, unproject(kCamera, pixel, 2 + 2 * unit(random)));
      if (unit(random) < outliers) {
        point = {8 * unit(random) - 4, 8 * unit(random) - 4, 8 * unit(random)};
        ++moved;
      }
      result.points.push_back({static_cast<float>(point[0]), static_cast<float>(point[1]), static_cast<float>(point[2])});
      result.pixels.push_back({static_cast<float>(u), static_cast<float>(v)});
    }
  }
  if (num_outliers != nullptr) *num_outliers = moved;
  return result;
}

double length(const Point3& p) {
  return std::hypot(p[0], p[1], p[2]);
}

TEST(Pnp, FindsTheCameraAmongAFifthOfOutliers) {
  const RigidTransform world_from_cam = crooked_camera(25, {0.4, -0.3, 0.2});
  for (const double outliers : {0.0, 0.2, 0.5}) {
    SCOPED_TRACE(outliers);
    size_t num_outliers = 0;
    const PnpPoints points = scattered(world_from_cam, outliers, &num_outliers);
    const PnpSolution solution = solve_pnp(points, kCamera);
    ASSERT_TRUE(solution.found()) << solution.failure;
    const RigidTransform error = compose(solution.cam_from_points, world_from_cam);
    // The rounding of 2000 points to float32, 3e-7 each, averages out; an outlier that fits to 5 px by chance would show.
    EXPECT_LE(rotation_angle_deg(error), 2e-6);
    EXPECT_LE(length(error.translation), 1e-7);
    // Every point that was left alone, and the outliers that happen to fit: those within 79 px^2 of a picture of 49152.
    EXPECT_GE(solution.num_inliers, points.points.size() - num_outliers);
    EXPECT_LE(solution.num_inliers, points.points.size() - num_outliers + num_outliers / 50);
  }
}

TEST(Pnp, GivesTheSameBitsEveryTime) {
  const PnpPoints points = scattered(crooked_camera(25, {0.4, -0.3, 0.2}), 0.4);
  const PnpSolution first = solve_pnp(points, kCamera);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const PnpSolution again = solve_pnp(points, kCamera);
    EXPECT_EQ(again.cam_from_points.rotation, first.cam_from_points.rotation);
    EXPECT_EQ(again.cam_from_points.translation, first.cam_from_points.translation);
    EXPECT_EQ(again.num_inliers, first.num_inliers);
  }
}

TEST(Pnp, SaysWhyThereIsNoPose) {
  EXPECT_THAT(solve_pnp({}, kCamera).failure, testing::HasSubstr("only 0 points"));
  const PnpPoints all = scattered({}, 0);
  PnpPoints three;
  three.points.assign(all.points.begin(), all.points.begin() + 3);
  three.pixels.assign(all.pixels.begin(), all.pixels.begin() + 3);
  EXPECT_THAT(solve_pnp(three, kCamera).failure, testing::HasSubstr("only 3 points"));
  // One point seen everywhere, and points that have nothing to do with their pixels: no pose, or one that few agree with; never a crash.
  PnpPoints one_place = all;
  for (auto& point : one_place.points) point = {0, 0, 1};
  const PnpSolution nowhere = solve_pnp(one_place, kCamera);
  EXPECT_LT(nowhere.num_inliers, all.points.size() / 20);
  const PnpSolution noise = solve_pnp(scattered({}, 1), kCamera);
  EXPECT_LT(noise.num_inliers, all.points.size() / 20);
}

TEST(Pnp, SurvivesNumbersAtTheEdge) {
  PnpPoints points = scattered({}, 0);
  for (auto& point : points.points) point = {1e38f, -1e38f, 1e38f};
  (void)solve_pnp(points, kCamera);
  for (auto& point : points.points) point = {0, 0, 0};
  (void)solve_pnp(points, kCamera);
  (void)solve_pnp(scattered({}, 0), {.fx = 1e-30, .fy = 1e-30, .cx = 0, .cy = 0});
  points.pixels.pop_back();
  EXPECT_THROW((void)solve_pnp(points, kCamera), Error);
}

}  // namespace
}  // namespace pointmap
