// Cameras found from pointmaps that are exact, or exact but for outliers, against the cameras that made them.
#include "recon/pair_pose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "recon/pair_testing.h"

namespace pointmap {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// The promise of the project for exact pointmaps, also with a fifth of outliers.
void expect_true_cameras(const Pair& pair) {
  const RigidTransform truth = pair.cam1_from_cam2();
  const RigidTransform& got = pair.scene.views[1].camera->world_from_cam;
  EXPECT_EQ(rotation_angle_deg(pair.scene.views[0].camera->world_from_cam), 0);
  EXPECT_LE(rotation_angle_deg(compose(inverse(got), truth)), 0.2);
  EXPECT_LE(angle_between_deg(got.translation, truth.translation), 0.5);
  for (size_t v = 0; v < 2; ++v) {
    SCOPED_TRACE("view " + std::to_string(v + 1));
    const Camera& camera = *pair.scene.views[v].camera;
    EXPECT_NEAR(camera.network.fx, pair.eyes[v].network.fx, 0.005 * pair.eyes[v].network.fx);
    EXPECT_EQ(camera.network.fx, camera.network.fy);
    // Points all over the picture, up to its corners, in the pixels of the photo.
    const RigidTransform cam_from_room = inverse(pair.eyes[v].room_from_cam);
    const RigidTransform got_cam_from_room = compose(inverse(camera.world_from_cam), inverse(pair.eyes[0].room_from_cam));
    for (const double u : {0.0, 0.5, 1.0}) {
      for (const double w : {0.0, 0.5, 1.0}) {
        for (const double depth : {1.5, 4.0}) {
          const Pixel pixel{u * pair.eyes[v].width, w * pair.eyes[v].height};
          const Point3 in_room = transform_point(pair.eyes[v].room_from_cam, unproject(pair.eyes[v].network, pixel, depth));
          const Pixel want = project(pair.original[v], transform_point(cam_from_room, in_room));
          const Pixel have = project(camera.original, transform_point(got_cam_from_room, in_room));
          EXPECT_LE(std::hypot(have.u - want.u, have.v - want.v), 0.5) << want.u << " " << want.v;
        }
      }
    }
  }
}

class PairPoseSizes : public testing::TestWithParam<PairOptions> {};

TEST_P(PairPoseSizes, FindsTheCamerasThatMadeThePoints) {
  for (const double outliers : {0.0, 0.2}) {
    SCOPED_TRACE(outliers);
    PairOptions options = GetParam();
    if (options.upstream_centre && outliers > 0) continue;  // upstream's focal length does not survive points near the camera's plane
    options.outliers = outliers;
    Pair pair = pair_of(options);
    const PoseReport report = solve_pair_pose(pair.scene, pair.swapped, options.upstream_centre ? PoseMode::kUpstream : PoseMode::kRaw);
    EXPECT_EQ(report.status, "ok") << report.reason;
    EXPECT_GE(static_cast<double>(report.num_inliers), (0.99 - outliers) * static_cast<double>(report.num_points));
    EXPECT_NEAR(report.rotation_deg, rotation_angle_deg(pair.cam1_from_cam2()), 0.2);
    expect_true_cameras(pair);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Photos, PairPoseSizes,
    testing::Values(PairOptions{.width = 4000, .height = 3000, .focal_px = 3100, .preset = Preset::kKeep},
                    PairOptions{.width = 1080, .height = 1920, .focal_px = 1500, .preset = Preset::kKeep},
                    PairOptions{.width = 640, .height = 480, .focal_px = 500, .preset = Preset::kPad512},
                    PairOptions{.width = 512, .height = 384, .focal_px = 400, .preset = Preset::kKeep, .upstream_centre = true}),
    [](const auto& test) {
      return std::to_string(test.param.width) + "x" + std::to_string(test.param.height) + (test.param.upstream_centre ? "_upstream" : "");
    });

// Alignment finds what PnP finds when the points are exact, also when a lens was guessed wrong, and needs no pixels for it.
TEST(PairPose, AlignedFindsTheSameCameras) {
  Pair pair = pair_of({});
  for (std::vector<float>* points : {&pair.swapped.second.points, &pair.swapped.first.points}) {
    for (float& x : *points) x *= 1.7F;  // the exchanged pass has its own scale
  }
  const std::vector<float> points = pair.scene.views[1].points;
  const PoseReport report = solve_pair_pose(pair.scene, pair.swapped, PoseMode::kAligned);
  EXPECT_EQ(report.status, "ok") << report.reason;
  EXPECT_EQ(report.num_points, pair.scene.views[1].confidence.size());
  EXPECT_EQ(report.num_inliers, report.num_points);
  EXPECT_EQ(pair.scene.views[1].points, points);
  expect_true_cameras(pair);
}

// Points bent away from their rays, as a network with a wrong idea of the lens gives them, alike in both frames: PnP turns the camera to
// make up for it, alignment does not care.
TEST(PairPose, AlignedSurvivesPointsBesideTheirRays) {
  std::array<double, 2> error_deg = {};
  for (const PoseMode mode : {PoseMode::kRaw, PoseMode::kAligned}) {
    Pair pair = pair_of({});
    const RigidTransform truth = pair.cam1_from_cam2();
    for (size_t p = 0; p < pair.swapped.second.points.size(); p += 3) {
      float* own = &pair.swapped.second.points[p];
      own[0] += 0.25F * own[2];  // sheared sideways
      const Point3 in_cam1 = transform_point(truth, {own[0], own[1], own[2]});
      for (size_t c = 0; c < 3; ++c) pair.scene.views[1].points[p + c] = static_cast<float>(in_cam1[c]);
    }
    solve_pair_pose(pair.scene, pair.swapped, mode);
    error_deg[mode == PoseMode::kRaw ? 0 : 1] = rotation_angle_deg(compose(inverse(truth), pair.scene.views[1].camera->world_from_cam));
  }
  EXPECT_LE(error_deg[1], 0.01);
  EXPECT_GT(error_deg[0], 1);
}

TEST(PairPose, AlignedSaysWhenThereIsNothingToAlign) {
  Pair pair = pair_of({});
  pair.swapped.second.points.assign(pair.swapped.second.points.size(), std::nanf(""));
  const PoseReport report = solve_pair_pose(pair.scene, pair.swapped, PoseMode::kAligned);
  EXPECT_EQ(report.status, "failed");
  EXPECT_THAT(report.reason, HasSubstr("fewer than 3 points"));
  EXPECT_EQ(pair.scene.views[1].camera->world_from_cam.translation[0], 0);
}

TEST(PairPose, AllOrientationsGiveOneCameraInThePhotoAsAPersonSeesIt) {
  std::optional<Camera> first;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    Pair pair = pair_of({.width = 320, .height = 240, .focal_px = 240, .exif_orientation = orientation});
    solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw);
    expect_true_cameras(pair);
    const Camera& camera = *pair.scene.views[1].camera;
    if (!first) first = camera;
    EXPECT_EQ(camera.original.fx, first->original.fx);
    EXPECT_EQ(camera.original.cx, first->original.cx);
    EXPECT_EQ(camera.original.cy, first->original.cy);
    EXPECT_EQ(camera.world_from_cam.rotation, first->world_from_cam.rotation);
    EXPECT_EQ(camera.world_from_cam.translation, first->world_from_cam.translation);
  }
}

TEST(PairPose, DepthIsZInTheViewsOwnCameraAndRawPointsStay) {
  Pair pair = pair_of({});
  const std::vector<float> points = pair.scene.views[1].points;
  solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw);
  EXPECT_EQ(pair.scene.views[1].points, points);
  for (size_t v = 0; v < 2; ++v) {
    const HostPointmap own = seen(pair.eyes[v], pair.eyes[v]);
    const std::vector<float>& depth = pair.scene.views[v].depth;
    ASSERT_THAT(depth, SizeIs(own.points.size() / 3));
    // PnP's rotation is good to 1e-5 and the room is 8 m deep.
    for (size_t p = 0; p < depth.size(); p += 7) EXPECT_NEAR(depth[p], own.points[3 * p + 2], 1e-4) << p;
  }
}

TEST(PairPose, ReprojectedPointsLieOnTheirRays) {
  Pair pair = pair_of({.outliers = 0.2});
  const std::vector<float> raw = pair.scene.views[1].points;
  solve_pair_pose(pair.scene, pair.swapped, PoseMode::kReprojected);
  const SceneView& view = pair.scene.views[1];
  const RigidTransform cam_from_world = inverse(view.camera->world_from_cam);
  const auto width = static_cast<size_t>(view.image.width);
  size_t num_moved = 0;
  for (size_t p = 0; p < view.confidence.size(); p += 11) {
    const Point3 in_cam = transform_point(cam_from_world, {view.points[3 * p], view.points[3 * p + 1], view.points[3 * p + 2]});
    EXPECT_NEAR(in_cam[2], view.depth[p], 1e-5);
    if (view.depth[p] < 0.1f) continue;  // an outlier beside or behind the camera: float32 leaves nothing of its pixel
    const Pixel pixel = project(view.camera->network, in_cam);
    EXPECT_NEAR(pixel.u, static_cast<double>(p % width), 2e-2);
    EXPECT_NEAR(pixel.v, static_cast<double>(p / width), 2e-2);
    if (std::abs(view.points[3 * p] - raw[3 * p]) > 1e-2f) ++num_moved;
  }
  EXPECT_GT(num_moved, view.confidence.size() / 11 / 10);  // the outliers, most of a fifth
}

// Upstream's choice (specification 6.4): with the exchanged pass more confident, poses, depth and scale are that pass's.
TEST(PairPose, UpstreamTakesTheMoreConfidentDirection) {
  for (const bool exchanged : {false, true}) {
    SCOPED_TRACE(exchanged);
    Pair pair = pair_of({.upstream_centre = true});
    // The exchanged pass has its own scale: everything twice as large.
    for (std::vector<float>* points : {&pair.swapped.second.points, &pair.swapped.first.points}) {
      for (float& x : *points) x *= 2;
    }
    if (exchanged) pair.swapped.first.confidence.assign(pair.swapped.first.confidence.size(), 11.0f);
    if (!exchanged) pair.scene.views[1].confidence.assign(pair.scene.views[1].confidence.size(), 11.0f);
    const double scale = exchanged ? 2 : 1;
    const std::array<std::vector<float>, 2> truth = {pair.scene.views[0].points, pair.scene.views[1].points};
    const PoseReport report = solve_pair_pose(pair.scene, pair.swapped, PoseMode::kUpstream);
    EXPECT_EQ(report.from_exchanged_views, exchanged);
    EXPECT_EQ(report.status, "ok") << report.reason;
    for (const Point3 truth_centre = pair.cam1_from_cam2().translation; size_t c : {0, 1, 2}) {
      EXPECT_NEAR(pair.scene.views[1].camera->world_from_cam.translation[c], scale * truth_centre[c], 1e-4);
    }
    for (size_t v = 0; v < 2; ++v) {
      const SceneView& view = pair.scene.views[v];
      for (size_t i = 0; i < view.points.size(); i += 5) EXPECT_NEAR(view.points[i], scale * truth[v][i], 2e-3) << i;
      EXPECT_EQ(view.confidence[0], (v == 1) == exchanged ? 10.0f : 11.0f) << v;
    }
  }
}

TEST(PairPose, ATieGoesToTheExchangedDirectionAsUpstream) {
  Pair pair = pair_of({.upstream_centre = true});
  EXPECT_TRUE(solve_pair_pose(pair.scene, pair.swapped, PoseMode::kUpstream).from_exchanged_views);
}

TEST(PairPose, AsksTheConfidentHalfWhenNothingIsConfidentEnough) {
  Pair pair = pair_of({.outliers = 0.2});
  const HostPointmap clean = seen(pair.eyes[1], pair.eyes[0]);
  for (size_t v = 0; v < 2; ++v) {
    std::vector<float>& confidence = v == 0 ? pair.swapped.second.confidence : pair.scene.views[1].confidence;
    for (size_t p = 0; p < confidence.size(); ++p) {
      confidence[p] = pair.scene.views[1].points[3 * p] == clean.points[3 * p] ? 1.5f : 1.1f;  // outliers know that they are
    }
  }
  const Scene before = pair.scene;
  const PoseReport report = solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw);
  EXPECT_EQ(report.status, "ok");
  EXPECT_THAT(report.notes, testing::ElementsAre(HasSubstr("only 0 of")));
  EXPECT_EQ(report.num_inliers, report.num_points);
  expect_true_cameras(pair);
  // Upstream gives up.
  pair.scene = before;
  for (std::vector<float>* confidence : {&pair.scene.views[0].confidence, &pair.swapped.first.confidence})
    std::ranges::fill(*confidence, 2);
  const PoseReport upstream = solve_pair_pose(pair.scene, pair.swapped, PoseMode::kUpstream);
  EXPECT_EQ(upstream.status, "failed");
}

// What a pair without a pose may look like: the second camera stands where the first does, and the report says why.
TEST(PairPose, DegenerateInputIsReportedNotFatal) {
  struct Row {
    const char* name;
    const char* status;
    std::function<void(Pair&)> spoil;
  };
  const auto fill = [](std::vector<float>& values, float value) { std::ranges::fill(values, value); };
  const std::vector<Row> rows = {
      {"no points", "failed", [&](Pair& p) { fill(p.scene.views[1].points, std::nanf("")); }},
      {"no confidence", "failed",
       [&](Pair& p) { fill(p.scene.views[1].confidence, std::nanf("")), fill(p.swapped.second.confidence, std::nanf("")); }},
      {"noise", "doubtful", [&](Pair& p) { p.scene.views[1].points = seen(p.eyes[1], p.eyes[0], 1).points; }},
      // View 2 is of another place: nothing of it is where view 1 looks, and the network puts it anywhere.
      {"no overlap", "doubtful",
       [&](Pair& p) {
         Eye elsewhere = p.eyes[1];
         elsewhere.room_from_cam = standing_at({2, 0.5, 3}, 150);
         p.scene.views[1].points = seen(elsewhere, p.eyes[0], 0.95).points;
       }},
      {"flat confidence", "ok", [&](Pair& p) { fill(p.scene.views[1].confidence, 1), fill(p.swapped.second.confidence, 1); }},
      {"one photo twice", "ok",
       [&](Pair& p) {
         p.scene.views[1] = p.scene.views[0];
         p.swapped.second.points = p.swapped.first.points = p.scene.views[0].points;
       }},
      {"pure rotation", "ok",
       [&](Pair& p) {
         p.eyes[1].room_from_cam.translation = p.eyes[0].room_from_cam.translation;
         p.scene.views[1].points = seen(p.eyes[1], p.eyes[0]).points;
         p.swapped.second = seen(p.eyes[1], p.eyes[1]);
       }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    for (const PoseMode mode : {PoseMode::kReprojected, PoseMode::kUpstream, PoseMode::kAligned}) {
      Pair pair = pair_of({});
      row.spoil(pair);
      const PoseReport report = solve_pair_pose(pair.scene, pair.swapped, mode);
      EXPECT_THAT(report.status, testing::AnyOf("ok", "doubtful", "failed")) << pose_mode_name(mode);
      EXPECT_EQ(report.reason.empty(), report.status == "ok");
    }
    Pair pair = pair_of({});
    row.spoil(pair);
    const PoseReport report = solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw);
    EXPECT_EQ(report.status, row.status) << report.reason;
    EXPECT_EQ(report.reason.empty(), report.status == "ok");
    ASSERT_TRUE(pair.scene.views[1].camera);
    if (report.status != "failed") continue;
    EXPECT_THAT(report.reason, HasSubstr("left where view 1 stands"));
    EXPECT_EQ(report.num_inliers, 0u);
    EXPECT_EQ(pair.scene.views[1].camera->world_from_cam.rotation, RigidTransform{}.rotation);
    EXPECT_EQ(pair.scene.views[1].camera->world_from_cam.translation, RigidTransform{}.translation);
  }
}

TEST(PairPose, GuessesAFocalLengthWhereThereIsNone) {
  Pair pair = pair_of({});
  std::ranges::fill(pair.swapped.second.points, 0.0f);
  const PoseReport report = solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw);
  EXPECT_NEAR(report.focal_px[1], 224 / 2 * std::sqrt(3.0), 1e-9);
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("view 2: its points imply no focal length")));
  EXPECT_NE(report.status, "failed");
  // Upstream's solver is handed a focal length of 0 and gives up.
  std::ranges::fill(pair.scene.views[1].confidence, 20.0f);
  EXPECT_EQ(solve_pair_pose(pair.scene, pair.swapped, PoseMode::kUpstream).status, "failed");
}

TEST(PairPose, RefusesMapsThatDoNotFit) {
  Pair pair = pair_of({});
  pair.swapped.first = {};
  EXPECT_THROW(solve_pair_pose(pair.scene, pair.swapped, PoseMode::kUpstream), Error);
  EXPECT_NO_THROW(solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw));
  pair.swapped.second.points.pop_back();
  EXPECT_THROW(solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw), Error);
  pair.scene.views.pop_back();
  EXPECT_THROW(solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw), Error);
}

}  // namespace
}  // namespace pointmap
