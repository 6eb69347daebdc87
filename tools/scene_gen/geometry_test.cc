// Depths, poses and the pairs' promises, against a slow ray caster in double precision and against formulas on paper.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "build_scene.h"
#include "pair.h"
#include "random.h"
#include "reference_testing.h"

namespace pointmap::scene_gen {
namespace {

constexpr double kEps = 0x1p-24;  // of float

PairOptions small_pair(std::optional<Surroundings> kind = {}) {
  return {.seed = 11, .width = 64, .height = 48, .kind = kind};
}

Scene bare_room() {
  Scene scene;
  scene.room_half = {2, 3, 1.5f};
  scene.num_materials = 1;
  return scene;
}

Camera camera_at(Vec3 position) {  // looks along +y of the world
  return {.width = 32, .height = 24, .focal_px = 40, .position = position, .cam_from_world = {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}};
}

View rendered(const Scene& scene, const Camera& camera) {
  View view;
  Renderer(best_kernel(), camera.width, camera.height).render(scene, camera, {}, view);
  return view;
}

TEST(SceneGenGeometry, WallAheadHasItsDistanceAsDepthInEveryPixel) {
  // Picture corners look 15.5 / 40 to the side and 11.5 / 40 up at distance 2: within the 2 m and 1.5 m to the other walls.
  const View view = rendered(bare_room(), camera_at({0, 1, 1.5f}));
  for (const float depth : view.depth) EXPECT_NEAR(depth, 2.0, 2 * 2 * kEps);
}

TEST(SceneGenGeometry, SphereAheadHasTheDepthOfTheFormula) {
  Scene scene = bare_room();
  add_sphere(scene, {0, 1, 1.5f}, 0.5f, {}, 0);
  const Camera camera = camera_at({0, -2, 1.5f});
  const View view = rendered(scene, camera);
  int num_on_sphere = 0;
  for (int y = 0; y < camera.height; ++y) {
    for (int x = 0; x < camera.width; ++x) {
      // |t d - (0, 0, 3)| = 0.5 with d = (u, v, 1): t = (3 - sqrt(9 - 8.75 |d|^2)) / |d|^2
      const double u = (x - 15.5) / 40, v = (y - 11.5) / 40, a = u * u + v * v + 1, discriminant = 9 - 8.75 * a;
      const bool on_sphere = discriminant > 0;
      const double want = on_sphere ? (3 - std::sqrt(discriminant)) / a : 5.0;
      // Near the outline a rounding of the discriminant by a few eps * 9 moves its root by that over 2 root.
      const double slack = on_sphere ? 8 * 9 * kEps / std::sqrt(discriminant) : 0;
      EXPECT_NEAR(view.depth[static_cast<size_t>(y * camera.width + x)], want, 8 * 5 * kEps + slack) << x << ", " << y;
      num_on_sphere += on_sphere;
    }
  }
  EXPECT_GT(num_on_sphere, 100);
}

TEST(SceneGenGeometry, BoxAndCylinderAheadHideTheWall) {
  Scene scene = bare_room();
  add_box(scene, {-0.5f, 1, 1.5f}, {0.25f, 0.5f, 3}, 0, 0);
  add_cylinder(scene, {0.5f, 1, 1.5f}, 0.25f, 3, {}, 0);
  const View view = rendered(scene, camera_at({0, -2, 1.5f}));
  const auto depth_at = [&](int x, int y) { return view.depth[static_cast<size_t>(y * 32 + x)]; };
  // The box's front is 2.5 m away, from x = -0.75 to -0.25 m: pixels 3.5 to 11.5. The cylinder's middle line is 2.75 m away at pixel 22.8.
  EXPECT_NEAR(depth_at(7, 3), 2.5, 4 * 2.5 * kEps);
  EXPECT_NEAR(depth_at(7, 20), 2.5, 4 * 2.5 * kEps);
  EXPECT_NEAR(depth_at(15, 11), 5, 4 * 5 * kEps);
  const double u = (23 - 15.5) / 40;  // (t u - 0.5)^2 + (t - 3)^2 = 0.25^2
  const double a = u * u + 1, b = 0.5 * u + 3, c = 0.25 + 9 - 0.0625;
  EXPECT_NEAR(depth_at(23, 11), (b - std::sqrt(b * b - a * c)) / a, 32 * 3 * kEps);
}

// Every pixel of random scenes. A ray within rounding of an outline may go either way, so a few pixels may differ, and only a few.
TEST(SceneGenGeometry, DepthAgreesWithDoublePrecisionReference) {
  for (const Surroundings kind : {Surroundings::kRoom, Surroundings::kGround}) {
    size_t num_pixels = 0, num_different = 0;
    for (uint64_t index = 0; index < 30; ++index) {
      const PairPlan plan = plan_pair(best_kernel(), small_pair(kind), index);
      for (const Camera& camera : plan.cameras) {
        const View view = rendered(plan.scene, camera);
        const DoubleVec origin{static_cast<double>(camera.position.x), static_cast<double>(camera.position.y),
                               static_cast<double>(camera.position.z)};
        for (int i = 0; i < camera.width * camera.height; ++i) {
          const ReferenceHit want = reference_trace(plan.scene, origin, reference_direction(camera, i % camera.width, i / camera.width));
          // Directions and local coordinates carry a few roundings of numbers up to 15 m; a slanted surface turns them into depth by 1 /
          // cos.
          const double tolerance = 4 * kEps * (want.t + 15) / std::max(want.cosine, 1e-3);
          num_different += std::fabs(static_cast<double>(view.depth[static_cast<size_t>(i)]) - want.t) > tolerance;
          ++num_pixels;
        }
      }
    }
    EXPECT_LE(num_different, num_pixels / 5000) << num_different << " of " << num_pixels;
  }
}

// What the second view says about the first: each of its points, moved by the record's pose, is a point of the scene as the first sees it.
TEST(SceneGenGeometry, PointsOfViewTwoLieOnSurfacesSeenFromViewOne) {
  size_t num_points = 0, num_floating = 0;
  for (uint64_t index = 0; index < 20; ++index) {
    const PairPlan plan = plan_pair(best_kernel(), small_pair(), index);
    const View view2 = rendered(plan.scene, plan.cameras[1]);
    double pose[16];
    cam1_from_cam2(plan.cameras[0], plan.cameras[1], pose);
    const Camera& camera1 = plan.cameras[0];
    const DoubleVec origin1{static_cast<double>(camera1.position.x), static_cast<double>(camera1.position.y),
                            static_cast<double>(camera1.position.z)};
    int num_consistent = 0, num_solid = 0;
    for (int i = 0; i < 64 * 48; ++i) {
      const double z = static_cast<double>(view2.depth[static_cast<size_t>(i)]), focal = static_cast<double>(camera1.focal_px);
      if (z <= 0) continue;
      ++num_solid;
      const double p[3] = {(i % 64 - 31.5) / focal * z, (i / 64 - 23.5) / focal * z, z};
      double q[3];
      for (int row = 0; row < 3; ++row)
        q[row] = pose[4 * row] * p[0] + pose[4 * row + 1] * p[1] + pose[4 * row + 2] * p[2] + pose[4 * row + 3];
      const double x = q[0] / q[2] * focal + 31.5, y = q[1] / q[2] * focal + 23.5;
      if (q[2] <= 0 || x < -0.5 || x > 63.5 || y < -0.5 || y > 47.5) continue;
      const ReferenceHit hit = reference_trace(plan.scene, origin1, reference_direction(camera1, x, y));
      const double tolerance = 8 * kEps * (q[2] + 15) / std::max(hit.cosine, 1e-3);
      ++num_points;
      num_floating += hit.id != kSkyId && hit.t > q[2] + tolerance;
      num_consistent += std::fabs(hit.t - q[2]) <= tolerance;
    }
    // The overlap was counted on 384 rays, the smaller of two directions; 4 sigma of a stratified count is below 0.06.
    EXPECT_GE(static_cast<double>(num_consistent) / num_solid, static_cast<double>(plan.overlap) - 0.06) << index;
  }
  EXPECT_GT(num_points, 20000u);
  EXPECT_LE(num_floating, num_points / 5000);  // points within rounding of an outline
}

double rotation_degrees(const Camera& a, const Camera& b) {
  double pose[16];
  cam1_from_cam2(a, b, pose);
  return std::acos(std::clamp(0.5 * (pose[0] + pose[5] + pose[10] - 1), -1.0, 1.0)) * 57.29577951;
}

template <typename T>
T median(std::vector<T> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

TEST(SceneGenPairs, TwoHundredPairsKeepWhatTheReadmePromises) {
  std::vector<float> overlaps, baselines;
  int num_rooms = 0;
  for (uint64_t index = 0; index < 200; ++index) {
    const PairPlan plan = plan_pair(best_kernel(), {.seed = 2}, index);
    num_rooms += plan.scene.surroundings == Surroundings::kRoom;
    overlaps.push_back(plan.overlap);
    baselines.push_back(plan.baseline_over_median_depth);
    EXPECT_GE(plan.overlap, 0.32f);
    EXPECT_GE(plan.baseline_over_median_depth, 0.12f * (1 - 1e-5f));  // the position is rounded to float
    EXPECT_LE(plan.baseline_over_median_depth, 1.0f * (1 + 1e-5f));
    EXPECT_LE(rotation_degrees(plan.cameras[0], plan.cameras[1]), 45.01);
    EXPECT_EQ(plan.cameras[0].focal_px, plan.cameras[1].focal_px);
    EXPECT_GE(plan.cameras[0].focal_px, 0.7f * 128);
    EXPECT_LE(plan.cameras[0].focal_px, 1.8f * 128);
    for (const Camera& camera : plan.cameras) {
      EXPECT_GE(clearance(plan.scene, camera.position), 0.25f);
      const Rotation& r = camera.cam_from_world;
      const float products[6] = {dot(r.row0, r.row0) - 1, dot(r.row1, r.row1) - 1, dot(r.row2, r.row2) - 1,
                                 dot(r.row0, r.row1),     dot(r.row0, r.row2),     dot(r.row1, r.row2)};
      for (const float product : products) EXPECT_LE(std::fabs(product), 1e-6f);
      EXPECT_GT(dot(cross(r.row0, r.row1), r.row2), 0.9f);  // right-handed
    }
  }
  EXPECT_NEAR(num_rooms, 140, 4 * 6.5);  // four sigma of 200 draws
  EXPECT_NEAR(median(overlaps), 0.58f, 0.05f);
  EXPECT_GT(median(baselines), 0.18f);
}

TEST(SceneGenPairs, BothViewsShowTexture) {
  for (uint64_t index = 0; index < 20; ++index) {
    const PairPlan plan = plan_pair(best_kernel(), small_pair(), index);
    for (int i = 0; i < 2; ++i) {
      View view;
      Renderer(best_kernel(), 64, 48).render(plan.scene, plan.cameras[i], plan.exposures[i], view);
      double sum = 0, squares = 0;
      for (const uint8_t level : view.rgb) sum += level, squares += level * level;
      const double mean = sum / static_cast<double>(view.rgb.size()),
                   deviation = std::sqrt(squares / static_cast<double>(view.rgb.size()) - mean * mean);
      EXPECT_GT(deviation, 8) << index;
      EXPECT_GT(mean, 40) << index;
      EXPECT_LT(mean, 220) << index;
    }
  }
}

TEST(SceneGenRandom, ElementaryFunctionsAgreeWithLibm) {
  for (double x = -9; x < 9; x += 0.037) {
    EXPECT_NEAR(portable_sin(x), std::sin(x), 1e-12);
    EXPECT_NEAR(portable_cos(x), std::cos(x), 1e-12);
    EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 1e-12);
    EXPECT_NEAR(portable_log(std::exp(x)), x, 1e-12);
  }
}

}  // namespace
}  // namespace pointmap::scene_gen
