// What the caller knows about the photos, through the library and the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "io/image/png_encode.h"
#include "io/npz/npz_file.h"
#include "pointmap/pointmap.h"
#include "program.h"

namespace pointmap {
namespace {

using testing::Contains;
using testing::HasSubstr;

class Known : public testing::Test {
 protected:
  Known() {
    for (const char* name : {"left.png", "right.png"}) write_test_photo(folder_.path() / name, 64, 48, name[0]);
    write_test_photo(folder_.path() / "small.png", 32, 24, 3);
  }
  std::string photo(const std::string& name) const { return folder_ / name; }
  std::string pair_to_out(const std::string& formats = "npz") const {
    return "reconstruct " + photo("left.png") + " " + photo("right.png") + " -o " + (folder_ / "out") +
           " -m synthetic:dust3r-tiny-linear --preset dust3r224 --json --formats " + formats + " ";
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_.path() / name) << text; }
  // The report of a run that must succeed.
  nlohmann::json report_of(const std::string& options, const std::string& formats = "npz") const {
    const ProgramResult result = run_program(pair_to_out(formats) + options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? nlohmann::json::parse(result.out) : nlohmann::json();
  }
  // What the library says when it refuses.
  static std::string refusal(Reconstructor& reconstructor, const std::vector<Photo>& photos, const ReconstructOptions& options) {
    try {
      reconstructor.reconstruct(photos, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kInvalidArgument);
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
};

TEST_F(Known, IntrinsicsAreThoseOfThePhotos) {
  write("lenses.txt", "# two lenses\n60 61 30 20\n70,71,33,25\n");
  const nlohmann::json one = report_of("--intrinsics 60,61,30,20");
  const nlohmann::json file = report_of("--intrinsics " + photo("lenses.txt"));
  const nlohmann::json two = report_of("--intrinsics 60,61,30,20 --intrinsics 70,71,33,25");
  EXPECT_EQ(file.at("views"), two.at("views"));
  EXPECT_EQ(one.at("known").at("intrinsics"), 2);
  for (const size_t v : {0U, 1U}) {
    const nlohmann::json& camera = file.at("views")[v].at("camera");
    EXPECT_TRUE(camera.at("intrinsics_known").get<bool>());
    EXPECT_NEAR(camera.at("original").at("fx").get<double>(), v == 0 ? 60 : 70, 1e-12);
    EXPECT_NEAR(camera.at("original").at("cy").get<double>(), v == 0 ? 20 : 25, 1e-12);
    // 224 network pixels show the middle 48 rows of 48: 4.667 each.
    EXPECT_NEAR(camera.at("network").at("fy").get<double>(), (v == 0 ? 61 : 71) * 224.0 / 48, 1e-9);
    EXPECT_NEAR(one.at("views")[v].at("camera").at("original").at("fx").get<double>(), 60, 1e-12);
  }
  EXPECT_FALSE(report_of("").at("views")[0].at("camera").at("intrinsics_known").get<bool>());
}

TEST_F(Known, WhatIsSaidOfListedPhotosFollowsThemWhenTheOrderChanges) {
  const nlohmann::json report = report_of("--intrinsics 60,61,30,20 --intrinsics 70,71,33,25 --first right.png");
  EXPECT_NEAR(report.at("views")[0].at("camera").at("original").at("fx").get<double>(), 70, 1e-12);
  EXPECT_NEAR(report.at("views")[1].at("camera").at("original").at("fx").get<double>(), 60, 1e-12);
}

TEST_F(Known, SharedIntrinsicsAreOneFocalLength) {
  const nlohmann::json report = report_of("--shared-intrinsics");
  EXPECT_TRUE(report.at("known").at("shared_intrinsics").get<bool>());
  const auto focal = [&](size_t v) { return report.at("views")[v].at("camera").at("original").at("fx").get<double>(); };
  EXPECT_NEAR(focal(0), focal(1), 1e-9);
  const nlohmann::json apart = report_of("");
  EXPECT_NE(apart.at("views")[0].at("camera").at("original").at("fx"), apart.at("views")[1].at("camera").at("original").at("fx"));
}

TEST_F(Known, MasksAreBesideTheirPhotosByName) {
  std::filesystem::create_directories(folder_.path() / "masks");
  const auto write_mask = [&](const std::string& name, int width, int height, int first_white_column) {
    std::vector<uint8_t> grey;
    for (int i = 0; i < width * height; ++i) grey.push_back(i % width >= first_white_column ? 255 : 0);
    const std::vector<std::byte> png = encode_png8(grey, width, height, 1);
    std::ofstream(folder_.path() / "masks" / name)
        .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
  };
  const std::string masks = "--masks " + photo("masks");
  write_mask("left.png", 64, 48, 32);
  EXPECT_THAT(run_program(pair_to_out() + masks).err, HasSubstr("right.png' has no mask: want '" + photo("masks/right.png")));
  write_mask("right.png.png", 64, 48, 0);
  const nlohmann::json report = report_of(masks, "ply");
  EXPECT_EQ(report.at("known").at("masks"), 2);
  // 224 network columns are photo columns 8 to 56 (48 of 64): of the left photo the right half counts.
  for (const auto& file : report.at("files")) {
    EXPECT_EQ(file.at("pixels"), 224 * 112 + 224 * 224);
  }
  write_mask("right.png.png", 48, 48, 0);
  EXPECT_THAT(run_program(pair_to_out() + masks).err, HasSubstr("has 48x48 pixels, want 64x48"));
  write_mask("right.png.png", 64, 48, 64);
  EXPECT_THAT(run_program(pair_to_out() + masks).err, HasSubstr("it is black"));
}

// What the masks leave is all that the cameras are found from.
TEST_F(Known, MasksKeepPixelsOutOfThePose) {
  Reconstructor reconstructor = Reconstructor::open("synthetic:dust3r-tiny-linear");
  const std::vector<Photo> photos = {{photo("left.png"), {}}, {photo("right.png"), {}}};
  std::vector<uint8_t> grey;
  for (int i = 0; i < 64 * 48; ++i) grey.push_back(i < 32 * 48 ? 255 : 0);
  ReconstructOptions options{.preset = "dust3r224", .pose = true, .pose_mode = PoseMode::kAligned};
  options.known.masks = {{}, {"mask", encode_png8(grey, 64, 48, 1)}};
  const Reconstruction run = reconstructor.reconstruct(photos, options);
  EXPECT_TRUE(run.scene.views[0].mask.empty());
  EXPECT_EQ(run.report.known.num_masks, 1U);
  EXPECT_EQ(run.report.pose->num_points, 224U * 112);
  options.known.masks.clear();
  EXPECT_EQ(reconstructor.reconstruct(photos, options).report.pose->num_points, 224U * 224);
}

TEST_F(Known, ALengthMakesTheSceneMetric) {
  const auto distance_of = [](const NpzFile& scene, const Pixel& a, const Pixel& b) {
    const auto points = scene.array("pts3d_1").as<float>();
    const auto at = [&](const Pixel& p, size_t c) {
      return static_cast<double>(points[3 * (static_cast<size_t>(p.v) * 224 + static_cast<size_t>(p.u)) + c]);
    };
    return std::hypot(at(a, 0) - at(b, 0), at(a, 1) - at(b, 1), at(a, 2) - at(b, 2));
  };
  // Network pixel (u, v) is photo pixel ((u + 0.5 + 37) * 48 / 224 - 0.5, (v + 0.5) * 48 / 224 - 0.5): 37 of 299 columns are cut off.
  const auto in_photo = [](const Pixel& p) {
    std::ostringstream text;
    text << std::setprecision(17) << (p.u + 0.5 + 37) * 64 / 299 - 0.5 << ":" << (p.v + 0.5) * 48 / 224 - 0.5;
    return text.str();
  };
  const Pixel a{20, 30}, b{200, 180};
  const nlohmann::json plain = report_of("");
  EXPECT_FALSE(plain.at("scale").at("metric").get<bool>());
  const double before = distance_of(NpzFile::read(folder_ / "out/scene.npz"), a, b);
  const nlohmann::json report = report_of("--distance " + in_photo(a) + ",1:" + in_photo(b) + ",2.5");
  EXPECT_TRUE(report.at("scale").at("metric").get<bool>());
  EXPECT_THAT(report.at("scale").at("source").get<std::string>(), HasSubstr("2.5 m between two points"));
  EXPECT_THAT(report.at("frame").get<std::string>(), HasSubstr("in metres"));
  const NpzFile scene = NpzFile::read(folder_ / "out/scene.npz");
  EXPECT_NEAR(distance_of(scene, a, b), 2.5, 0.0001 * 2.5);  // float32, and 37 is 37.5 to the transform: half a pixel of a smooth map
  EXPECT_NEAR(report.at("known").at("scale_factor").get<double>(), 2.5 / before, 0.0001 * 2.5 / before);
}

TEST_F(Known, PosesOfATrajectoryAreTheCamerasOfTheScene) {
  write("poses.txt", "1 1 2 3 0 0 0 1\n2 1.25 2 3 0 0 0.6 0.8\n");
  const nlohmann::json report = report_of("--pose-mode aligned --poses " + photo("poses.txt"));
  EXPECT_EQ(report.at("known").at("scale_from"), "poses");
  if (report.at("known").at("scale_status") == "ok") {
    EXPECT_THAT(report.at("scale").at("source").get<std::string>(), HasSubstr("poses.txt"));
    const nlohmann::json& camera = report.at("views")[1].at("camera");
    EXPECT_TRUE(camera.at("pose_known").get<bool>());
    EXPECT_NEAR(camera.at("world_from_cam")[0][3].get<double>(), 0.25, 1e-12);
    EXPECT_NEAR(camera.at("world_from_cam")[0][1].get<double>(), -0.96, 1e-12);
  } else {
    ADD_FAILURE() << report.at("known");
  }
  // What was written comes back: the trajectory of a scene is the known poses of the next.
  const nlohmann::json written = report_of("--pose-mode aligned --poses " + photo("poses.txt"), "tum,nerfstudio");
  for (const char* name : {"trajectory.txt", "transforms.json"}) {
    std::filesystem::copy_file(folder_.path() / "out" / name, folder_.path() / name);
    const nlohmann::json again = report_of("--pose-mode aligned --poses " + photo(name));
    for (size_t row = 0; row < 3; ++row) {
      for (size_t column = 0; column < 4; ++column) {
        const auto entry = [&](const nlohmann::json& r) {
          return r.at("views")[1].at("camera").at("world_from_cam")[row][column].get<double>();
        };
        EXPECT_NEAR(entry(again), entry(written), 1e-12) << name;
      }
    }
  }
  write("wrong.txt", "1 1 2 3 0 0 0 1\n2 1.25 2 3 0 0 0.3 0.4\n");
  const ProgramResult wrong = run_program(pair_to_out() + "--poses " + photo("wrong.txt"));
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("wrong.txt', line 2, photo '" + photo("right.png") + "': its quaternion is 0.5 long"));
  EXPECT_THAT(wrong.err, HasSubstr("wanted is camera-to-world"));
}

TEST_F(Known, UsageErrorsAnswerTwo) {
  for (const std::string options : {"--intrinsics 1,2,3", "--intrinsics 1,2,3,x", "--intrinsics absent.txt",
                                    "--intrinsics 60,60,30,20 --shared-intrinsics", "--baseline 0", "--baseline -1", "--distance 1:2,3:4",
                                    "--baseline 1 --distance 1:2,3:4,1", "--poses absent.txt", "--masks absent"}) {
    const ProgramResult result = run_program(pair_to_out() + options);
    EXPECT_EQ(result.exit_code, 2) << options << "\n" << result.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out")) << options;
  }
}

TEST_F(Known, TheLibraryRefusesWhatDoesNotFit) {
  Reconstructor reconstructor = Reconstructor::open("synthetic:dust3r-tiny-linear");
  const std::vector<Photo> photos = {{photo("left.png"), {}}, {photo("right.png"), {}}};
  const std::vector<Photo> unlike = {{photo("left.png"), {}}, {photo("small.png"), {}}};
  const Intrinsics lens{60, 61, 30, 20};
  const auto with = [](const KnownInputs& known) { return ReconstructOptions{.preset = "dust3r224", .pose = true, .known = known}; };
  EXPECT_THAT(refusal(reconstructor, photos, with({.intrinsics = {lens, lens, lens}})), HasSubstr("intrinsics of 3 photos"));
  EXPECT_THAT(refusal(reconstructor, photos, with({.intrinsics = {lens, {0, 61, 30, 20}}})), HasSubstr("right.png': fx 0"));
  EXPECT_THAT(refusal(reconstructor, photos, with({.intrinsics = {{60, 61, NAN, 20}}})), HasSubstr("all photos"));
  EXPECT_THAT(refusal(reconstructor, photos, with({.intrinsics = {lens}, .shared_intrinsics = true})), HasSubstr("not both"));
  EXPECT_THAT(refusal(reconstructor, unlike, with({.intrinsics = {lens}})), HasSubstr("small.png' has 32x24"));
  EXPECT_THAT(refusal(reconstructor, unlike, with({.shared_intrinsics = true})), HasSubstr("small.png' has 32x24"));
  EXPECT_THAT(refusal(reconstructor, photos, {.known = {.intrinsics = {lens}}}), HasSubstr("asked for the pose"));
  const KnownPoses poses{.world_from_cam = {{}, {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {1, 0, 0}}}};
  EXPECT_THAT(refusal(reconstructor, photos, with({.poses = poses, .baseline_metres = 1})), HasSubstr("got 2"));
  EXPECT_THAT(refusal(reconstructor, photos, with({.poses = {.world_from_cam = {{}, {}, {}}}})), HasSubstr("poses of 3 photos"));
  EXPECT_THAT(refusal(reconstructor, photos, with({.poses = {.world_from_cam = {{}, {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, -1}}}}})),
              HasSubstr("right.png': its rotation is left-handed"));
  EXPECT_THAT(refusal(reconstructor, photos, with({.masks = {{}}})), HasSubstr("masks of 1 photos"));
  EXPECT_THAT(refusal(reconstructor, photos, with({.baseline_metres = -1})), HasSubstr("want more than 0"));
  EXPECT_THAT(refusal(reconstructor, photos, {.known = {.baseline_metres = 1}}), HasSubstr("asked for the pose"));
  const auto distance = [&](size_t place, Pixel pixel) {
    return with({.distance = KnownDistance{.from = {.photo = 0, .pixel = {30, 20}}, .to = {.photo = place, .pixel = pixel}, .metres = 1}});
  };
  EXPECT_THAT(refusal(reconstructor, photos, distance(2, {30, 20})), HasSubstr("photo 3, there are 2"));
  EXPECT_THAT(refusal(reconstructor, photos, distance(1, {64, 20})), HasSubstr("outside the photo"));
  EXPECT_THAT(refusal(reconstructor, photos, distance(1, {2, 20})), HasSubstr("crops away"));
  ReconstructOptions masked = distance(1, {30, 20});
  std::vector<uint8_t> grey(64 * 48, 255);
  for (size_t i = 0; i < grey.size(); ++i) grey[i] = i / 64 < 30 ? 0 : 255;
  masked.known.masks = {{}, {"mask", encode_png8(grey, 64, 48, 1)}};
  EXPECT_THAT(refusal(reconstructor, photos, masked), HasSubstr("black in the photo's mask"));
  // A lens for the network's picture instead of the photo's.
  const Reconstruction run = reconstructor.reconstruct(photos, with({.intrinsics = {{200, 200, 112, 112}}}));
  EXPECT_THAT(run.report.notes, Contains(HasSubstr("left.png' has 64x48 pixels, (cx, cy) is (112, 112)")));
}

}  // namespace
}  // namespace pointmap
