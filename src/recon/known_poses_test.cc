// Known cameras on exact scenes: they are taken as they are, and everything else comes to their scale and place.
#include "recon/known_poses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "recon/known_scale.h"
#include "recon/pair_pose.h"
#include "recon/pair_testing.h"

namespace pointmap {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The room's own cameras: its world is none of the two.
KnownPoses truth_of(const Pair& pair) {
  return {.world_from_cam = {pair.eyes[0].room_from_cam, pair.eyes[1].room_from_cam}, .source = "room.txt"};
}

// As a network says it that does not know the unit.
void forget_the_unit(Pair& pair, float factor) {
  for (SceneView& view : pair.scene.views) {
    for (float& x : view.points) x *= factor;
  }
  for (HostPointmap* map : {&pair.swapped.second, &pair.swapped.first}) {
    for (float& x : map->points) x *= factor;
  }
}

RunReport solve(Pair& pair) {
  RunReport report;
  report.pose = solve_pair_pose(pair.scene, pair.swapped, PoseMode::kRaw);
  return report;
}

// Share of points within `metres` of where they are in the frame of the first camera.
double share_within(const Pair& pair, size_t v, double metres) {
  const HostPointmap truth = seen(pair.eyes[v], pair.eyes[0]);
  const std::vector<float>& points = pair.scene.views[v].points;
  size_t count = 0;
  for (size_t p = 0; p < points.size(); p += 3) {
    const double off = std::hypot(points[p] - truth.points[p], points[p + 1] - truth.points[p + 1], points[p + 2] - truth.points[p + 2]);
    count += off <= metres ? 1 : 0;
  }
  return static_cast<double>(3 * count) / static_cast<double>(points.size());
}

TEST(KnownPoses, AreTakenAsTheyAreAndBringThePointsToMetres) {
  for (const double outliers : {0.0, 0.2}) {
    SCOPED_TRACE(outliers);
    Pair pair = pair_of({.outliers = outliers});
    forget_the_unit(pair, 0.37F);
    RunReport report = solve(pair);
    apply_known_poses(pair.scene, truth_of(pair), report);
    EXPECT_EQ(report.known.scale_status, "ok");
    EXPECT_EQ(report.known.num_poses, 2U);
    EXPECT_NEAR(report.known.scale_factor, 1 / 0.37, 1e-4 / 0.37);  // outliers within five pixels of their place move the camera a little
    EXPECT_THAT(report.notes, IsEmpty());
    EXPECT_TRUE(pair.scene.scale.is_metric);
    EXPECT_EQ(pair.scene.scale.source, "known poses from room.txt");
    const RigidTransform truth = pair.cam1_from_cam2();
    const RigidTransform& got = pair.scene.views[1].camera->world_from_cam;
    for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(got.rotation[i], truth.rotation[i], 1e-15);
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(got.translation[i], truth.translation[i], 1e-15);
    EXPECT_EQ(pair.scene.views[0].camera->world_from_cam.rotation, RigidTransform{}.rotation);
    EXPECT_EQ(pair.scene.views[0].camera->world_from_cam.translation, RigidTransform{}.translation);
    for (size_t v = 0; v < 2; ++v) {
      EXPECT_TRUE(pair.scene.views[v].camera->pose_known);
      EXPECT_GE(share_within(pair, v, 0.002), 0.99 - outliers);  // 1e-4 of a room 8 m deep, and a camera turned by as much
    }
  }
}

// All that can be known, known: oblong pixels, a lens beside the middle, the cameras. Depth and points are the room's.
TEST(KnownPoses, WithKnownLensesGiveTheRoomItself) {
  for (const double outliers : {0.0, 0.2}) {
    SCOPED_TRACE(outliers);
    Pair pair = pair_of({.outliers = outliers, .lens = Intrinsics{.fx = 364, .fy = 390, .cx = 200, .cy = 240}});
    forget_the_unit(pair, 5.0F);
    KnownLenses lenses;
    for (size_t v = 0; v < 2; ++v) lenses.network[v] = network_intrinsics(pair.original[v], pair.scene.views[v].transform);
    RunReport report;
    report.pose = solve_pair_pose(pair.scene, pair.swapped, PoseMode::kReprojected, lenses);
    apply_known_poses(pair.scene, truth_of(pair), report);
    EXPECT_NEAR(report.known.scale_factor, 0.2, 0.2 * 1e-4);  // which an estimated lens misses by per cents
    for (size_t v = 0; v < 2; ++v) {
      EXPECT_GE(share_within(pair, v, 0.002), 0.99 - outliers);
      EXPECT_TRUE(pair.scene.views[v].camera->intrinsics_known);
      EXPECT_TRUE(pair.scene.views[v].camera->pose_known);
    }
  }
}

TEST(KnownPoses, OfStoredPixelsAreTurnedWithThePhoto) {
  // EXIF 6: the stored picture turned clockwise is upright, so its right is the photo's down, and its down the photo's left. 3: a half
  // turn.
  const RigidTransform oriented_from_stored_6 = {.rotation = {0, -1, 0, 1, 0, 0, 0, 0, 1}, .translation = {}};
  const RigidTransform oriented_from_stored_3 = {.rotation = {-1, 0, 0, 0, -1, 0, 0, 0, 1}, .translation = {}};
  for (const int orientation : {3, 6}) {
    SCOPED_TRACE(orientation);
    Pair pair = pair_of({.width = 320, .height = 240, .focal_px = 240, .exif_orientation = orientation});
    RunReport report = solve(pair);
    KnownPoses poses = truth_of(pair);
    poses.of_stored_pixels = true;
    for (RigidTransform& pose : poses.world_from_cam)
      pose = compose(pose, orientation == 6 ? oriented_from_stored_6 : oriented_from_stored_3);
    apply_known_poses(pair.scene, poses, report);
    EXPECT_THAT(report.notes, IsEmpty());
    const RigidTransform off = compose(inverse(pair.cam1_from_cam2()), pair.scene.views[1].camera->world_from_cam);
    EXPECT_LE(rotation_angle_deg(off), 1e-6);
    for (const double x : off.translation) EXPECT_NEAR(x, 0, 1e-12);
  }
}

TEST(KnownPoses, ThatAreTurnedRoundAreNamed) {
  const RigidTransform flip = {.rotation = {1, 0, 0, 0, -1, 0, 0, 0, -1}, .translation = {}};
  for (const bool has_opengl_axes : {false, true}) {
    Pair pair = pair_of({});
    RunReport report = solve(pair);
    KnownPoses poses = truth_of(pair);
    for (RigidTransform& pose : poses.world_from_cam) {
      // As a file would hold it, and as it is read: with OpenGL's axes the last two columns are negated.
      pose = has_opengl_axes ? compose(inverse(compose(pose, flip)), flip) : inverse(pose);
    }
    apply_known_poses(pair.scene, poses, report);
    EXPECT_THAT(report.notes, Contains(HasSubstr("are they world-to-camera? Wanted is camera-to-world"))) << has_opengl_axes;
  }
  // And a camera that is merely wrong is not.
  Pair pair = pair_of({});
  RunReport report = solve(pair);
  KnownPoses poses = truth_of(pair);
  poses.world_from_cam[1] = standing_at(poses.world_from_cam[1].translation, 30);
  apply_known_poses(pair.scene, poses, report);
  EXPECT_THAT(report.notes, Contains(HasSubstr("turned by 4")));  // by 47 about the vertical axis and a third of that about x
  EXPECT_THAT(report.notes, Not(Contains(HasSubstr("world-to-camera"))));
}

TEST(KnownPoses, OneSharedPlaceLeavesTheScaleUnknown) {
  Pair pair = pair_of({});
  RunReport report = solve(pair);
  KnownPoses poses = truth_of(pair);
  poses.world_from_cam[1].translation = poses.world_from_cam[0].translation;
  apply_known_poses(pair.scene, poses, report);
  EXPECT_EQ(report.known.scale_status, "failed");
  EXPECT_EQ(report.known.scale_factor, 1);
  EXPECT_FALSE(pair.scene.scale.is_metric);
  EXPECT_TRUE(pair.scene.views[1].camera->pose_known);
  EXPECT_EQ(pair.scene.views[1].camera->world_from_cam.translation, (Point3{0, 0, 0}));
}

TEST(KnownPoses, AreNotUsedWhereTheNetworkSaysNoScale) {
  for (const bool failed : {true, false}) {
    SCOPED_TRACE(failed);
    Pair pair = pair_of({});
    const KnownPoses poses = truth_of(pair);
    if (failed) {
      std::ranges::fill(pair.scene.views[1].points, std::nanf(""));
    } else {
      pair.scene.views[1].points = seen(pair.eyes[1], pair.eyes[1]).points;  // as if both stood in one place
    }
    RunReport report = solve(pair);
    EXPECT_EQ(report.pose->status, failed ? "failed" : "ok");
    const std::vector<float> points = pair.scene.views[0].points;
    apply_known_poses(pair.scene, poses, report);
    EXPECT_EQ(report.known.scale_status, "failed");
    EXPECT_EQ(report.known.num_poses, 0U);
    EXPECT_THAT(report.notes, Contains(HasSubstr(failed ? "no second camera was found" : "stand in one place")));
    EXPECT_FALSE(pair.scene.scale.is_metric);
    EXPECT_FALSE(pair.scene.views[1].camera->pose_known);
    EXPECT_EQ(pair.scene.views[0].points, points);
  }
}

// Four cameras of a network that has its own world, unit and handed-down turn, one photo of which could not be read.
TEST(KnownPoses, OfManyViewsMoveEverythingIntoTheFirstCamera) {
  const RigidTransform network_from_room = standing_at({5, -2, 1}, 70);
  constexpr double kUnit = 0.4;
  const auto in_network = [&](const Point3& in_room) {
    Point3 p = transform_point(network_from_room, in_room);
    for (double& x : p) x *= kUnit;
    return p;
  };
  Scene scene;
  scene.world = WorldFrame::kNetwork;
  KnownPoses poses;
  const std::vector<Point3> in_room = {{1, 2, 6}, {-1, 0.5, 4}, {0, -1, 5}, {2, 1, 7}};
  for (size_t v = 0; v < 5; ++v) {
    const double i = static_cast<double>(v);
    poses.world_from_cam.push_back(standing_at({0.3 * i, 0.1 * i * i, -0.2 * i}, 9 * i - 20));
    SceneView& view = scene.views.emplace_back();
    if (v == 0) {
      view.status = "skipped";
      continue;
    }
    view.image = {.width = 2, .height = 2, .rgb = {}};
    view.transform = {.stored_width = 2, .stored_height = 2, .network_width = 2, .network_height = 2};
    RigidTransform found = compose(network_from_room, poses.world_from_cam[v]);
    for (double& x : found.translation) x *= kUnit;
    view.camera = Camera{.world_from_cam = found, .network = {}, .original = {}};
    for (const Point3& point : in_room) {
      for (const double x : in_network(point)) view.points.push_back(static_cast<float>(x));
      view.depth.push_back(static_cast<float>(kUnit * transform_point(inverse(poses.world_from_cam[v]), point)[2]));
    }
  }
  RunReport report;
  apply_known_poses(scene, poses, report);
  EXPECT_EQ(report.known.num_poses, 4U);
  EXPECT_NEAR(report.known.scale_factor, 1 / kUnit, 1e-12);
  EXPECT_EQ(scene.world, WorldFrame::kFirstCamera);
  EXPECT_THAT(report.notes, IsEmpty());
  const RigidTransform first_from_room = inverse(poses.world_from_cam[1]);
  for (size_t v = 1; v < 5; ++v) {
    const RigidTransform cam_from_room = inverse(poses.world_from_cam[v]);
    for (size_t p = 0; p < in_room.size(); ++p) {
      const Point3 want = transform_point(first_from_room, in_room[p]);
      for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(scene.views[v].points[3 * p + c], want[c], 1e-5);  // float32, moved by metres
      EXPECT_NEAR(scene.views[v].depth[p], transform_point(cam_from_room, in_room[p])[2], 1e-5);
    }
  }
}

TEST(KnownScale, ABaselineBringsEverythingToMetres) {
  Pair pair = pair_of({.outliers = 0.2});
  forget_the_unit(pair, 3.0F);
  RunReport report = solve(pair);
  const Point3 truth = pair.cam1_from_cam2().translation;
  apply_known_scale(pair.scene, {.baseline_metres = std::hypot(truth[0], truth[1], truth[2])}, report);
  EXPECT_EQ(report.known.scale_from, "baseline");
  EXPECT_EQ(report.known.scale_status, "ok");
  EXPECT_THAT(pair.scene.scale.source, HasSubstr("between the cameras of views 1 and 2"));
  const Point3& got = pair.scene.views[1].camera->world_from_cam.translation;
  for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(got[c], truth[c], 1e-3);  // a tenth of a degree of its direction
  for (size_t v = 0; v < 2; ++v) EXPECT_GE(share_within(pair, v, 0.002), 0.79);
}

TEST(KnownScale, TheMedianDepthIsThatOfTheValidPixels) {
  SceneView view;
  view.image = {.width = 6, .height = 1, .rgb = {}};
  view.transform = {.stored_width = 6, .stored_height = 1, .network_width = 6, .network_height = 1};
  EXPECT_EQ(median_depth(view), 0);
  view.depth = {5, 1, -3, std::nanf(""), 2, 100};
  view.mask = {1, 1, 1, 1, 1, 0};
  EXPECT_EQ(median_depth(view), 2);
}

TEST(KnownScale, ADistanceBringsEverythingToMetres) {
  Pair pair = pair_of({.width = 4000, .height = 3000, .focal_px = 3100, .preset = Preset::kKeep});
  forget_the_unit(pair, 0.1F);
  RunReport report;  // no camera is needed for it
  // Two places of the photos, one in each, and how far apart the room is there.
  const std::array<Pixel, 2> pixels = {{{700, 2500}, {3100.4, 900.7}}};
  std::array<Point3, 2> in_room;
  for (size_t v = 0; v < 2; ++v) {
    const Eye& eye = pair.eyes[v];
    const Point3& centre = eye.room_from_cam.translation;
    const Point3 ahead = transform_point(eye.room_from_cam, unproject(pair.original[v], pixels[v], 1));
    const Point3 direction = {ahead[0] - centre[0], ahead[1] - centre[1], ahead[2] - centre[2]};
    const double depth = distance_to_room(centre, direction);
    for (size_t c = 0; c < 3; ++c) in_room[v][c] = centre[c] + depth * direction[c];
  }
  const double metres = std::hypot(in_room[0][0] - in_room[1][0], in_room[0][1] - in_room[1][1], in_room[0][2] - in_room[1][2]);
  ASSERT_GT(metres, 1);
  const KnownDistance distance{.from = {.photo = 0, .pixel = pixels[0]}, .to = {.photo = 1, .pixel = pixels[1]}, .metres = metres};
  apply_known_scale(pair.scene, {.distance = distance}, report);
  EXPECT_EQ(report.known.scale_status, "ok") << report.known.scale_reason;
  EXPECT_NEAR(report.known.scale_factor, 10, 10 * 1e-3);  // between four pixels on a wall seen at an angle
  for (size_t v = 0; v < 2; ++v) EXPECT_GE(share_within(pair, v, 0.01), 0.999);
  EXPECT_TRUE(pair.scene.scale.is_metric);
}

TEST(KnownScale, SaysWhenThereIsNothingToScaleBy) {
  const auto outcome = [](Pair& pair, const KnownInputs& known) {
    RunReport report = solve(pair);
    const std::vector<float> points = pair.scene.views[0].points;
    apply_known_scale(pair.scene, known, report);
    EXPECT_EQ(report.known.scale_status, "failed");
    EXPECT_FALSE(pair.scene.scale.is_metric);
    EXPECT_TRUE(std::isnan(points[0]) || pair.scene.views[0].points == points);
    EXPECT_THAT(report.notes, Contains(report.known.scale_reason));
    return report.known.scale_reason;
  };
  Pair pair = pair_of({});
  std::ranges::fill(pair.scene.views[1].points, std::nanf(""));
  EXPECT_THAT(outcome(pair, {.baseline_metres = 1}), HasSubstr("no second camera was found"));
  pair = pair_of({});
  pair.scene.views[1] = pair.scene.views[0];  // one photo twice
  pair.swapped.second.points = pair.scene.views[0].points;
  EXPECT_THAT(outcome(pair, {.baseline_metres = 1}), HasSubstr("stand in one place"));
  pair = pair_of({});
  const PhotoPoint here{.photo = 0, .pixel = {100, 100}}, there{.photo = 0, .pixel = {300, 300}};
  EXPECT_THAT(outcome(pair, {.distance = KnownDistance{.from = here, .to = here, .metres = 1}}), HasSubstr("no length"));
  std::ranges::fill(pair.scene.views[0].points, std::nanf(""));
  EXPECT_THAT(outcome(pair, {.distance = KnownDistance{.from = here, .to = there, .metres = 1}}), HasSubstr("not finite"));
}

// Across an edge the nearest pixel speaks alone: halfway between a box and the wall behind it there is nothing.
TEST(KnownScale, PointsAreInterpolatedOnOneSurfaceOnly) {
  SceneView view;
  view.image = {.width = 2, .height = 1, .rgb = {}};
  view.transform = {.stored_width = 20, .stored_height = 10, .scale_x = 10, .scale_y = 10, .network_width = 2, .network_height = 1};
  const std::vector<float> surface = {0, 0, 4, 0.1F, 0, 4}, edge = {0, 0, 4, 0.2F, 0, 8};
  // The network's pixels are at 4.5 and 14.5 in the photo; 7 is a quarter of the way.
  EXPECT_NEAR(point_at(view, surface, {7, 4.5})[0], 0.025, 1e-7);
  EXPECT_EQ(point_at(view, edge, {7, 4.5})[2], 4);
  EXPECT_EQ(point_at(view, edge, {12, 4.5})[2], 8);
  view.mask = {1, 0};
  EXPECT_EQ(point_at(view, surface, {7, 4.5})[0], 0);
}

}  // namespace
}  // namespace pointmap
