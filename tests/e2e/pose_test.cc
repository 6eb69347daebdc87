// Cameras of a pair through the library and the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/npz/npz_file.h"
#include "pointmap/pointmap.h"
#include "program.h"

namespace pointmap {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class Pose : public testing::Test {
 protected:
  Pose() {
    for (int i = 0; i < 3; ++i) write_test_photo(folder_.path() / ("photo" + std::to_string(i) + ".png"), 64, 48, i);
  }
  std::string photo(int i) const { return folder_ / ("photo" + std::to_string(i) + ".png"); }
  std::string pair_to(const std::string& name) const {
    return "reconstruct " + photo(0) + " " + photo(1) + " -o " + (folder_ / name) +
           " -m synthetic:dust3r-tiny-linear --preset dust3r224 --formats npz --json ";
  }

  TemporaryFolder folder_;
};

TEST_F(Pose, ThreePairsOverThreePhotosEncodeThreeTimes) {
  Reconstructor reconstructor = Reconstructor::open("synthetic:dust3r-tiny-linear");
  const auto run = [&](int a, int b, const ReconstructOptions& options) {
    return reconstructor.reconstruct({{.name = photo(a), .bytes = {}}, {.name = photo(b), .bytes = {}}}, options);
  };
  const ReconstructOptions with_pose{.preset = "dust3r224", .pose = true};
  EXPECT_EQ(run(0, 1, with_pose).report.num_encoded, 2);
  EXPECT_EQ(run(1, 2, with_pose).report.num_encoded, 1);
  const Reconstruction remembered = run(0, 2, with_pose);
  EXPECT_EQ(remembered.report.num_encoded, 0);

  // Neither the memory nor the pose changes a bit of the pointmaps.
  Reconstructor fresh = Reconstructor::open("synthetic:dust3r-tiny-linear");
  const Reconstruction plain =
      fresh.reconstruct({{.name = photo(0), .bytes = {}}, {.name = photo(2), .bytes = {}}}, {.preset = "dust3r224"});
  EXPECT_FALSE(plain.report.pose);
  for (size_t v = 0; v < 2; ++v) {
    EXPECT_EQ(remembered.scene.views[v].points, plain.scene.views[v].points);
    EXPECT_EQ(remembered.scene.views[v].confidence, plain.scene.views[v].confidence);
    EXPECT_FALSE(plain.scene.views[v].camera);
    ASSERT_TRUE(remembered.scene.views[v].camera);
    EXPECT_THAT(remembered.scene.views[v].depth, SizeIs(224 * 224));
  }
  ASSERT_TRUE(remembered.report.pose);
  EXPECT_GT(remembered.report.pose->focal_px[0], 0);
}

TEST_F(Pose, TheProgramWritesCamerasUnlessToldNotTo) {
  const ProgramResult with = run_program(pair_to("with"));
  ASSERT_EQ(with.exit_code, 0) << with.err;
  const NpzFile scene = NpzFile::read(folder_ / "with/scene.npz");
  const nlohmann::json report = nlohmann::json::parse(with.out);
  EXPECT_EQ(report.at("pose").at("mode"), "raw");
  for (const char* stage : {"swapped_pass", "pose"}) EXPECT_THAT(report.at("stages").dump(), HasSubstr(stage));
  for (const std::string view : {"1", "2"}) {
    EXPECT_EQ(scene.array("depth_" + view).shape, (Shape{224, 224}));
    const auto pose = scene.array("world_from_cam_" + view).as<double>();
    const auto intrinsics = scene.array("intrinsics_" + view).as<double>();
    const auto original = scene.array("original_intrinsics_" + view).as<double>();
    const nlohmann::json& camera = report.at("views")[view == "1" ? 0 : 1].at("camera");
    for (size_t i = 0; i < 16; ++i) EXPECT_EQ(pose[i], camera.at("world_from_cam")[i / 4][i % 4].get<double>());
    EXPECT_EQ(intrinsics[0], camera.at("network").at("fx").get<double>());
    EXPECT_EQ(original[5], camera.at("original").at("cy").get<double>());
    EXPECT_NEAR(original[2], 31.5, 1e-9);  // the middle of a photo 64 pixels wide, though the crop from 299 to 224 is off by half a pixel
    EXPECT_EQ(camera.at("original_size"), nlohmann::json({64, 48}));
  }

  const ProgramResult without = run_program(pair_to("without") + "--no-pose");
  ASSERT_EQ(without.exit_code, 0) << without.err;
  EXPECT_TRUE(nlohmann::json::parse(without.out).at("pose").is_null());
  EXPECT_THAT(NpzFile::read(folder_ / "without/scene.npz").names(), Not(Contains(HasSubstr("cam"))));
}

TEST_F(Pose, EveryModeRunsAndUnknownOnesAreRefused) {
  for (const std::string mode : {"raw", "reprojected", "upstream"}) {
    const ProgramResult result = run_program(pair_to(mode) + "--pose-mode " + mode);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(nlohmann::json::parse(result.out).at("pose").at("mode"), mode);
    EXPECT_EQ(pose_mode_name(parse_pose_mode(mode)), mode);
  }
  EXPECT_EQ(run_program(pair_to("other") + "--pose-mode sideways").exit_code, 2);
  EXPECT_THROW((void)parse_pose_mode("sideways"), Error);
  const NpzFile raw = NpzFile::read(folder_ / "raw/scene.npz");
  const NpzFile reprojected = NpzFile::read(folder_ / "reprojected/scene.npz");
  EXPECT_EQ(raw.array("world_from_cam_2").bytes, reprojected.array("world_from_cam_2").bytes);
  EXPECT_EQ(raw.array("depth_1").bytes, reprojected.array("depth_1").bytes);
  EXPECT_NE(raw.array("pts3d_1").bytes, reprojected.array("pts3d_1").bytes);
}

}  // namespace
}  // namespace pointmap
