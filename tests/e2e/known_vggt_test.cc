// What the caller knows about photos that go through VGGT, which says cameras itself; and photos that it can make no sense of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "geometry/rigid_transform.h"
#include "io/image/png_encode.h"
#include "pointmap/export.h"
#include "pointmap/pointmap.h"

namespace pointmap {
namespace {

using testing::Contains;
using testing::HasSubstr;

Photo picture(int seed, int width = 70, int height = 42) {
  Image image{.width = width, .height = height, .rgb = {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) image.rgb.push_back(static_cast<uint8_t>((x * (2 + c) + y * 3 + seed * 41) & 255));
    }
  }
  return {.name = "photo" + std::to_string(seed), .bytes = encode_png8(image)};
}

double distance_between(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

class KnownVggt : public testing::Test {
 protected:
  // The weights are made once for all tests.
  static void SetUpTestSuite() { reconstructor_ = std::make_unique<Reconstructor>(Reconstructor::open("synthetic:vggt-tiny")); }
  static void TearDownTestSuite() { reconstructor_.reset(); }
  static Reconstruction run(const KnownInputs& known) {
    return reconstructor_->reconstruct({picture(0), picture(1), picture(2)}, {.known = known});
  }
  static const std::array<double, 3>& centre(const Reconstruction& run, size_t view) {
    return run.scene.views[view].camera->world_from_cam.translation;
  }

  static std::unique_ptr<Reconstructor> reconstructor_;
};

std::unique_ptr<Reconstructor> KnownVggt::reconstructor_;

TEST_F(KnownVggt, KnownIntrinsicsMoveOnlyTheRays) {
  const Intrinsics lens{.fx = 60, .fy = 63, .cx = 30, .cy = 22};
  const Reconstruction plain = run({}), known = run({.intrinsics = {lens}});
  EXPECT_EQ(known.report.known.num_intrinsics, 3U);
  EXPECT_THAT(known.report.notes, Contains(HasSubstr("points from depth lie on the rays of the known intrinsics")));
  for (size_t v = 0; v < 3; ++v) {
    const SceneView &got = known.scene.views[v], &was = plain.scene.views[v];
    EXPECT_TRUE(got.camera->intrinsics_known);
    EXPECT_EQ(got.camera->original.cx, 30);
    EXPECT_EQ(got.camera->network.fy, 63);  // photos are as large as the network's pictures
    EXPECT_EQ(got.camera->world_from_cam.translation, was.camera->world_from_cam.translation);
    EXPECT_EQ(got.depth, was.depth);
    EXPECT_EQ(got.points, was.points);
  }
}

TEST_F(KnownVggt, SharedIntrinsicsAreOneFocalLength) {
  const Reconstruction shared = run({.shared_intrinsics = true});
  const double focal = shared.scene.views[0].camera->original.fx;
  for (const SceneView& view : shared.scene.views) {
    EXPECT_EQ(view.camera->original.fx, focal);
    EXPECT_EQ(view.camera->original.fy, focal);
    EXPECT_FALSE(view.camera->intrinsics_known);
  }
}

TEST_F(KnownVggt, ABaselineScalesEverything) {
  const Reconstruction plain = run({}), scaled = run({.baseline_metres = 3});
  ASSERT_EQ(scaled.report.known.scale_status, "ok") << scaled.report.known.scale_reason;
  EXPECT_NEAR(distance_between(centre(scaled, 0), centre(scaled, 1)), 3, 1e-12);
  const double factor = 3 / distance_between(centre(plain, 0), centre(plain, 1));
  EXPECT_NEAR(scaled.report.known.scale_factor, factor, 1e-12 * factor);
  for (size_t v = 0; v < 3; ++v) {
    const SceneView &got = scaled.scene.views[v], &was = plain.scene.views[v];
    for (size_t i = 0; i < got.depth.size(); i += 17) EXPECT_FLOAT_EQ(got.depth[i], static_cast<float>(factor * was.depth[i]));
    for (size_t i = 0; i < got.points.size(); i += 17) EXPECT_FLOAT_EQ(got.points[i], static_cast<float>(factor * was.points[i]));
    EXPECT_EQ(got.pose_encoding, was.pose_encoding) << "what the network said stays";
  }
  EXPECT_TRUE(scaled.scene.scale.is_metric);
  EXPECT_FALSE(plain.scene.scale.is_metric);
}

TEST_F(KnownVggt, KnownPosesBecomeTheCameras) {
  KnownPoses poses;
  for (const double x : {1.0, 1.5, 2.5}) poses.world_from_cam.push_back({.translation = {x, -2, 7}});
  const Reconstruction known = run({.poses = poses});
  ASSERT_EQ(known.report.known.scale_status, "ok") << known.report.known.scale_reason;
  EXPECT_EQ(known.report.known.num_poses, 3U);
  EXPECT_EQ(known.scene.world, WorldFrame::kFirstCamera);
  for (size_t v = 0; v < 3; ++v) {
    EXPECT_TRUE(known.scene.views[v].camera->pose_known);
    EXPECT_NEAR(centre(known, v)[0], poses.world_from_cam[v].translation[0] - 1, 1e-12);
    EXPECT_NEAR(centre(known, v)[2], 0, 1e-12);
  }
}

// The first view's camera is one photo, the others as if nothing else had been there.
TEST_F(KnownVggt, WhatIsKnownStaysWithItsPhotoWhenOthersAreSkipped) {
  const std::vector<Photo> photos = {picture(0), {.name = "broken", .bytes = {std::byte{1}}}, picture(1)};
  ReconstructOptions options{.skip_bad = true};
  options.known.intrinsics = {{60, 60, 35, 20}, {1, 1, 1, 1}, {70, 70, 35, 20}};
  options.known.poses.world_from_cam = {{}, {.translation = {9, 9, 9}}, {.translation = {0, 0.5, 0}}};
  const Reconstruction run = reconstructor_->reconstruct(photos, options);
  EXPECT_EQ(run.scene.views[0].camera->original.fx, 60);
  EXPECT_EQ(run.scene.views[2].camera->original.fx, 70);
  EXPECT_EQ(run.report.known.num_intrinsics, 2U);
  EXPECT_EQ(run.report.known.num_poses, 2U);
  EXPECT_NEAR(centre(run, 2)[1], 0.5, 1e-12);
  options.known = {.baseline_metres = 1};
  try {
    reconstructor_->reconstruct(photos, options);
    FAIL() << "took a baseline to a photo that is not there";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the baseline needs photo 2, which was skipped"));
  }
}

TEST_F(KnownVggt, OnePhotoHasNoScaleToBeKnown) {
  for (const KnownInputs& known : {KnownInputs{.poses = {.world_from_cam = {{}}}}, KnownInputs{.baseline_metres = 1}}) {
    EXPECT_THROW(reconstructor_->reconstruct({picture(0)}, {.known = known}), Error);
  }
  // But a length in it is one.
  const KnownDistance distance{.from = {.photo = 0, .pixel = {10, 10}}, .to = {.photo = 0, .pixel = {60, 30}}, .metres = 4};
  const Reconstruction one = reconstructor_->reconstruct({picture(0)}, {.known = {.distance = distance}});
  EXPECT_NE(one.report.known.scale_status, "");
}

TEST_F(KnownVggt, DegeneratePhotosMakeAScene) {
  const Photo flat = [] {
    const Image grey{.width = 70, .height = 42, .rgb = std::vector<uint8_t>(70 * 42 * 3, 128)};
    return Photo{.name = "flat", .bytes = encode_png8(grey)};
  }();
  for (const std::vector<Photo>& photos :
       {std::vector{picture(0), picture(0)}, std::vector{flat, flat}, std::vector{flat, picture(1, 42, 70)}}) {
    const Reconstruction run = reconstructor_->reconstruct(photos, {.known = {.baseline_metres = 1}});
    for (const SceneView& view : run.scene.views) {
      EXPECT_EQ(view.status, "ok");
      EXPECT_TRUE(view.camera.has_value());
    }
    EXPECT_THAT(run.report.known.scale_status, testing::AnyOf("ok", "failed"));
    EXPECT_EQ(run.scene.scale.is_metric, run.report.known.scale_status == "ok");
  }
}

}  // namespace
}  // namespace pointmap
