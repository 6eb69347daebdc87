// What the caller knows about the photos, through the library and the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

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
  std::string pair_to_out() const {
    return "reconstruct " + photo("left.png") + " " + photo("right.png") + " -o " + (folder_ / "out") +
           " -m synthetic:dust3r-tiny-linear --preset dust3r224 --formats npz --json ";
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_.path() / name) << text; }
  // The report of a run that must succeed.
  nlohmann::json report_of(const std::string& options) const {
    const ProgramResult result = run_program(pair_to_out() + options);
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

TEST_F(Known, UsageErrorsAnswerTwo) {
  for (const std::string options :
       {"--intrinsics 1,2,3", "--intrinsics 1,2,3,x", "--intrinsics absent.txt", "--intrinsics 60,60,30,20 --shared-intrinsics"}) {
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
  // A lens for the network's picture instead of the photo's.
  const Reconstruction run = reconstructor.reconstruct(photos, with({.intrinsics = {{200, 200, 112, 112}}}));
  EXPECT_THAT(run.report.notes, Contains(HasSubstr("left.png' has 64x48 pixels, (cx, cy) is (112, 112)")));
}

}  // namespace
}  // namespace pointmap
