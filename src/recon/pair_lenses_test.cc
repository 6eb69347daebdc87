// Known and shared lenses of a pair, on pointmaps that are exact: what is known is used as it is, and the cameras are the better for it.
#include "recon/pair_lenses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recon/known_inputs.h"
#include "recon/pair_pose.h"
#include "recon/pair_testing.h"

namespace pointmap {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

KnownLenses all_known(const Pair& pair) {
  KnownLenses known;
  for (size_t v = 0; v < 2; ++v) known.network[v] = network_intrinsics(pair.original[v], pair.scene.views[v].transform);
  return known;
}

struct CameraErrors {
  double rotation_deg, direction_deg;
};

CameraErrors errors_of(const Pair& pair) {
  const RigidTransform truth = pair.cam1_from_cam2();
  const RigidTransform& got = pair.scene.views[1].camera->world_from_cam;
  return {rotation_angle_deg(compose(inverse(got), truth)), angle_between_deg(got.translation, truth.translation)};
}

// Oblong pixels and a lens that points far from the middle, which no estimate from points could find: photos of both shapes, with a fifth
// of outliers and without.
TEST(KnownLenses, LeadToTheCamerasThatMadeThePoints) {
  const Intrinsics landscape{.fx = 3100, .fy = 3350, .cx = 1700, .cy = 1650}, portrait{.fx = 1500, .fy = 1400, .cx = 600, .cy = 900};
  for (const double outliers : {0.0, 0.2}) {
    for (const bool is_portrait : {false, true}) {
      SCOPED_TRACE(std::to_string(is_portrait) + " " + std::to_string(outliers));
      const Intrinsics& lens = is_portrait ? portrait : landscape;
      const PairOptions options{.width = is_portrait ? 1080 : 4000,
                                .height = is_portrait ? 1920 : 3000,
                                .outliers = outliers,
                                .exif_orientation = is_portrait ? 6 : 1,
                                .preset = Preset::kKeep,
                                .lens = lens};
      Pair pair = pair_of(options);
      const PoseReport report = solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw, all_known(pair));
      EXPECT_EQ(report.status, "ok") << report.reason;
      EXPECT_GE(static_cast<double>(report.num_inliers), (0.99 - outliers) * static_cast<double>(report.num_points));
      const CameraErrors known = errors_of(pair);
      EXPECT_LE(known.rotation_deg, 0.001);  // float32 points; of the inliers some are outliers by less than five pixels
      EXPECT_LE(known.direction_deg, 0.005);
      for (const SceneView& view : pair.scene.views) {
        EXPECT_TRUE(view.camera->intrinsics_known);
        EXPECT_NEAR(view.camera->original.fx, lens.fx, 1e-9);
        EXPECT_NEAR(view.camera->original.fy, lens.fy, 1e-9);
        EXPECT_NEAR(view.camera->original.cx, lens.cx, 1e-9);
        EXPECT_NEAR(view.camera->original.cy, lens.cy, 1e-9);
      }
      if (!is_portrait) continue;
      Pair estimated = pair_of(options);
      solve_pair_pose(estimated.scene, estimated.swapped, PoseMode::kRaw);
      EXPECT_GT(errors_of(estimated).rotation_deg, 10 * known.rotation_deg) << "without what is known";
      EXPECT_FALSE(estimated.scene.views[0].camera->intrinsics_known);
    }
  }
}

TEST(KnownLenses, ReprojectedPointsLieOnTheKnownRays) {
  Pair pair = pair_of({.lens = Intrinsics{.fx = 400, .fy = 360, .cx = 200, .cy = 240}});
  const std::vector<float> truth = pair.scene.views[1].points;
  solve_pair_pose(pair.scene, pair.swapped, PoseMode::kReprojected, all_known(pair));
  // As exact as the camera found: 1e-5 of a turn in a room 8 m deep.
  for (size_t i = 0; i < truth.size(); i += 7) EXPECT_NEAR(pair.scene.views[1].points[i], truth[i], 2e-4);
}

TEST(KnownLenses, OneOfTwoMayBeKnownAndAStrangeOneIsNoted) {
  Pair pair = pair_of({});
  KnownLenses known = all_known(pair);
  known.network[0].reset();
  known.network[1]->fx *= 1.3;
  const PoseReport report = solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw, known);
  EXPECT_FALSE(pair.scene.views[0].camera->intrinsics_known);
  EXPECT_TRUE(pair.scene.views[1].camera->intrinsics_known);
  EXPECT_EQ(pair.scene.views[1].camera->network.fx, known.network[1]->fx);
  EXPECT_EQ(report.focal_px[1], known.network[1]->fx);
  // 364 * 1.1 is the truth.
  EXPECT_THAT(report.notes,
              ElementsAre(HasSubstr("view 2: the known focal length is 521 pixels of the photo, the network's idea of it is 400")));
  known.network[1]->fx /= 1.3 / 1.19;
  EXPECT_THAT(solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw, known).notes, IsEmpty());
}

TEST(SharedLens, IsOneFocalLengthOfAllPointsInThePhotosPixels) {
  for (const double outliers : {0.0, 0.2}) {
    Pair pair = pair_of({.width = 4000, .height = 3000, .focal_px = 3100, .outliers = outliers, .preset = Preset::kKeep});
    solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw, {.network = {}, .shared = true});
    const std::array<Camera, 2> cameras = {*pair.scene.views[0].camera, *pair.scene.views[1].camera};
    EXPECT_NEAR(cameras[0].original.fx, cameras[1].original.fx, 1e-9);
    EXPECT_NEAR(cameras[0].original.fx, cameras[0].original.fy, 1e-9);
    // Clearly between the two that made the points, 3100 and 3410.
    EXPECT_GT(cameras[0].original.fx, 1.01 * 3100);
    EXPECT_LT(cameras[0].original.fx, 0.99 * 3410);
    EXPECT_FALSE(cameras[0].intrinsics_known);
  }
  // And exact when one lens made both.
  Pair pair = pair_of({.width = 1080,
                       .height = 1920,
                       .outliers = 0.2,
                       .preset = Preset::kKeep,
                       .lens = Intrinsics{.fx = 1500, .fy = 1500, .cx = 539.5, .cy = 959.5}});
  solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw, {.network = {}, .shared = true});
  EXPECT_NEAR(pair.scene.views[1].camera->original.fx, 1500, 0.005 * 1500);
  EXPECT_LE(errors_of(pair).rotation_deg, 0.2);
}

// One view's points say nothing: the other one speaks for both.
TEST(SharedLens, SurvivesAViewThatImpliesNone) {
  Pair pair = pair_of({});
  std::ranges::fill(pair.swapped.second.points, 0.0f);
  const PoseReport report = solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw, {.network = {}, .shared = true});
  EXPECT_NEAR(report.focal_px[1], report.focal_px[0], 1e-9);
  EXPECT_NEAR(report.focal_px[1], pair.eyes[0].network.fx, 0.005 * pair.eyes[0].network.fx);
  EXPECT_THAT(report.notes, testing::Not(Contains(HasSubstr("60 degrees"))));
}

// Of a network that says cameras itself.
TEST(ReplaceLenses, TakesTheKnownOnesOrTheMedian) {
  const ViewTransform t{
      .stored_width = 1036, .stored_height = 700, .scale_x = 2, .scale_y = 2.5, .offset_x = 3, .network_width = 518, .network_height = 280};
  const auto scene_of = [&](const std::vector<double>& focals) {
    Scene scene;
    for (const double focal : focals) {
      SceneView& view = scene.views.emplace_back();
      view.transform = t;
      const Intrinsics network{.fx = focal, .fy = focal + 1, .cx = 259, .cy = 140};
      view.camera = Camera{.world_from_cam = {}, .network = network, .original = original_intrinsics(network, t)};
    }
    return scene;
  };
  std::vector<std::string> notes;
  Scene scene = scene_of({400, 400});
  const Intrinsics lens{.fx = 820, .fy = 1010, .cx = 500, .cy = 350};
  replace_lenses(scene, {{.intrinsics = lens}, {}}, false, notes);
  EXPECT_TRUE(scene.views[0].camera->intrinsics_known);
  EXPECT_FALSE(scene.views[1].camera->intrinsics_known);
  EXPECT_EQ(scene.views[0].camera->original.fy, 1010);
  EXPECT_EQ(scene.views[0].camera->network.fx, 410);
  EXPECT_EQ(scene.views[0].camera->network.cx, (500 + 0.5 - 3) / 2 - 0.5);
  EXPECT_EQ(scene.views[1].camera->network.fx, 400);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("known intrinsics")));

  notes.clear();
  scene = scene_of({400, 500, 300});  // in the photo 800, 1002.5; 1000, 1252.5; 600, 752.5: the middle two are 800 and 1000
  replace_lenses(scene, {{}, {}, {}}, true, notes);
  for (const SceneView& view : scene.views) {
    EXPECT_DOUBLE_EQ(view.camera->original.fx, 900);
    EXPECT_DOUBLE_EQ(view.camera->original.fy, 900);
    EXPECT_DOUBLE_EQ(view.camera->network.fy, 360);
  }
  scene = scene_of({INFINITY});
  replace_lenses(scene, {{}}, true, notes);
  EXPECT_EQ(scene.views[0].camera->network.fx, INFINITY) << "there is none to share";
}

}  // namespace
}  // namespace pointmap
