// Pairs that no network can make sense of, through real networks: a status in the report, whatever it is, and files that can be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "io/image/png_encode.h"
#include "pointmap/export.h"
#include "pointmap/models.h"
#include "pointmap/pointmap.h"
#include "pointmap/report.h"
#include "program.h"

namespace pointmap {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

Photo picture(const std::string& name, int width, int height, const std::function<int(int, int)>& grey) {
  Image image{.width = width, .height = height, .rgb = {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) image.rgb.insert(image.rgb.end(), 3, static_cast<uint8_t>(grey(x, y)));
  }
  return {.name = name, .bytes = encode_png8(image)};
}

struct DegeneratePair {
  const char* name;
  Photo first, second;
};

std::vector<DegeneratePair> degenerate_pairs() {
  const Photo ramp = picture("ramp", 64, 48, [](int x, int y) { return (3 * x + 2 * y) & 255; });
  const Photo stripes = picture("stripes", 48, 64, [](int x, int) { return x / 4 % 2 * 255; });
  const Photo flat = picture("flat", 64, 48, [](int, int) { return 128; });
  const Photo black = picture("black", 64, 48, [](int, int) { return 0; });
  const Photo pixel = picture("pixel", 1, 1, [](int, int) { return 200; });
  return {{"one photo twice", ramp, ramp},
          {"nothing in common", ramp, stripes},
          {"nothing to see", flat, flat},
          {"nothing at all", black, flat},
          {"one pixel", ramp, pixel}};
}

void expect_whole(const Reconstruction& run, const ModelInfo& model) {
  ASSERT_TRUE(run.report.pose);
  const PoseReport& pose = *run.report.pose;
  EXPECT_THAT(pose.status, AnyOf("ok", "doubtful", "failed"));
  EXPECT_EQ(pose.reason.empty(), pose.status == "ok");
  for (const SceneView& view : run.scene.views) {
    ASSERT_TRUE(view.camera);
    for (const double x : view.camera->world_from_cam.rotation) EXPECT_TRUE(std::isfinite(x));
    for (const double x : view.camera->world_from_cam.translation) EXPECT_TRUE(std::isfinite(x));
    EXPECT_GT(view.camera->original.fx, 0);
  }
  EXPECT_EQ(nlohmann::json::parse(report_json(model, run, {})).at("pose").at("status"), pose.status);
  const TemporaryFolder folder;
  EXPECT_GE(export_scene(run.scene, folder.path(), {.formats = parse_formats("npz,ply,glb,depth")}).size(), 3U);
}

void run_all_pairs(const std::string& model, const std::vector<PoseMode>& modes) {
  Reconstructor reconstructor = Reconstructor::open(model);
  for (const DegeneratePair& pair : degenerate_pairs()) {
    for (const PoseMode mode : modes) {
      SCOPED_TRACE(std::string(pair.name) + ", " + std::string(pose_mode_name(mode)));
      ReconstructOptions options{.preset = model == "demo" ? "keep" : "dust3r224", .pose = true, .pose_mode = mode};
      options.known.baseline_metres = 0.5;
      const Reconstruction run = reconstructor.reconstruct({pair.first, pair.second}, options);
      expect_whole(run, reconstructor.model());
      // Scaled, or it says why not.
      const KnownReport& known = run.report.known;
      EXPECT_THAT(known.scale_status, AnyOf("ok", "failed"));
      EXPECT_EQ(run.scene.scale.is_metric, known.scale_status == "ok");
      EXPECT_EQ(known.scale_reason.empty(), known.scale_status == "ok");
      const auto& centre = run.scene.views[1].camera->world_from_cam.translation;
      if (!run.scene.scale.is_metric) continue;
      EXPECT_NEAR(std::hypot(centre[0], centre[1], centre[2]), 0.5, 1e-9);
    }
  }
}

TEST(Degenerate, PairsThroughAnUntrainedNetwork) {
  run_all_pairs("synthetic:dust3r-tiny-linear", {PoseMode::kReprojected, PoseMode::kUpstream});
}

TEST(Degenerate, PairsThroughTheModelInTheBox) {
  try {
    Reconstructor::open("demo");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  run_all_pairs("demo", {PoseMode::kRaw, PoseMode::kAligned});
}

TEST(Degenerate, OnePhotoIsNoPair) {
  Reconstructor reconstructor = Reconstructor::open("synthetic:dust3r-tiny-linear");
  try {
    reconstructor.reconstruct({degenerate_pairs()[0].first}, {.pose = true});
    FAIL() << "took one photo";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("takes 2 photos, got 1"));
  }
}

}  // namespace
}  // namespace pointmap
