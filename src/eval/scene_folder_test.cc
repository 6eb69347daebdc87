// Folders that are no scenes, or lie about being one.
#include "eval/scene_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <limits>

#include "base/error.h"
#include "eval/truth_testing.h"
#include "io/npz/npz_writer.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SceneFolderTest : public testing::Test {
 protected:
  SceneFolderTest() : folder_(fs::temp_directory_path() / ("pointmap-scene-folder-" + std::to_string(::getpid()))) {
    write_corner(folder_, corner_of(20));
  }
  ~SceneFolderTest() override { fs::remove_all(folder_); }

  void expect_error(ErrorCode code, const std::string& words) const {
    try {
      (void)read_truth(read_scene_folder(folder_), 2);
      ADD_FAILURE() << "accepted, wanted: " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error_code_name(error.code()), error_code_name(code)) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(words));
      EXPECT_THAT(error.what(), HasSubstr(folder_.string()));
    }
  }
  void write_description(const std::string& text) const { std::ofstream(folder_ / "scene.json") << text; }

  // A truth file of 2 x 3 pixels in which one array of view 2 may be replaced.
  struct Truth {
    std::vector<double> intrinsics = {50, 0, 1, 0, 50, 0.5, 0, 0, 1};
    std::vector<double> pose = {1, 0, 0, 4, 0, 1, 0, 5, 0, 0, 1, 6, 0, 0, 0, 1};
    Shape depth_shape = {2, 3};
    Shape pose_shape = {4, 4};
    bool depth_is_double = false;
    bool has_depth = true;
  };
  void write_truth(const Truth& second) const {
    NpzWriter npz(folder_ / "truth.npz");
    for (const char* suffix : {"_1", "_2"}) {
      const Truth truth = std::string(suffix) == "_2" ? second : Truth{};
      const std::vector<float> depth(static_cast<size_t>(truth.depth_shape.num_elements()), 2);
      const std::vector<double> wide(depth.begin(), depth.end());
      const std::string name = std::string("depth") + suffix;
      if (truth.has_depth && truth.depth_is_double) npz.add(name, DType::kF64, truth.depth_shape, std::as_bytes(std::span(wide)));
      if (truth.has_depth && !truth.depth_is_double) npz.add(name, DType::kF32, truth.depth_shape, std::as_bytes(std::span(depth)));
      npz.add(std::string("intrinsics") + suffix, DType::kF64, {3, 3}, std::as_bytes(std::span(truth.intrinsics)));
      npz.add(std::string("world_from_cam") + suffix, DType::kF64, truth.pose_shape, std::as_bytes(std::span(truth.pose)));
    }
    npz.finish();
  }

  fs::path folder_;
};

TEST_F(SceneFolderTest, ReadsWhatWasWritten) {
  const SceneFolder scene = read_scene_folder(folder_);
  EXPECT_EQ(scene.photos.at(1), folder_ / "view_2.png");
  const std::vector<ViewTruth> truth = read_truth(scene, 2);
  EXPECT_EQ(truth[0].width, 96);
  EXPECT_EQ(truth[0].height, 72);
  EXPECT_EQ(truth[1].intrinsics.cx, 47.5);
  EXPECT_EQ(truth[0].world_from_cam.translation[1], -2);
  // The floor, 1.4 below the first camera and rising by a tenth: at the bottom, 35.5 pixels under the middle, y = 35.5 / 80 z.
  EXPECT_NEAR(truth[0].depth[71 * 96 + 48], 1.4 / (35.5 / 80 + 0.1), 1e-6);
  write_truth({});
  EXPECT_EQ(read_truth(scene, 2)[1].world_from_cam.translation[2], 6);
}

TEST_F(SceneFolderTest, FindsScenesAtAnyDepth) {
  write_corner(folder_ / "z/scene_1", corner_of(20));
  fs::create_directories(folder_ / "a/empty");
  EXPECT_THAT(find_scene_folders(folder_), testing::ElementsAre(folder_, folder_ / "z/scene_1"));
  for (const fs::path& nothing : {folder_ / "a", folder_ / "absent", folder_ / "scene.json"}) {
    try {
      (void)find_scene_folders(nothing);
      ADD_FAILURE() << "found a scene in " << nothing;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kNotFound);
      EXPECT_THAT(error.what(), HasSubstr(nothing.string()));
    }
  }
}

TEST_F(SceneFolderTest, RefusesDescriptionsThatAreWrong) {
  const std::string start = R"({"format": "pointmap-scene", "version": 1, )";
  const std::tuple<std::string, ErrorCode, const char*> rows[] = {
      {"", kCorruptData, "not JSON"},
      {"{\"format\": ", kCorruptData, "not JSON"},
      {std::string(100'000, '['), kCorruptData, "not JSON"},
      {"[1, 2]", kCorruptData, "not an object"},
      {"{}", kCorruptData, "no key 'format'"},
      {R"({"format": 7})", kCorruptData, "'format' is number"},
      {R"({"format": "other"})", kUnsupported, "'other'"},
      {R"({"format": "pointmap-scene", "version": 2})", kUnsupported, "version is 2"},
      {R"({"format": "pointmap-scene", "version": "1"})", kCorruptData, "'version' is string"},
      {start + R"("truth": "truth.npz"})", kCorruptData, "no key 'views'"},
      {start + R"("views": ["view_1.png"], "truth": "truth.npz"})", kCorruptData, "1 entries"},
      {start + R"("views": ["view_1.png", 3], "truth": "truth.npz"})", kCorruptData, "holds number"},
      {start + R"("views": ["view_1.png", "gone.png"], "truth": "truth.npz"})", kNotFound, "'gone.png'"},
      {start + R"("views": ["view_1.png", "../x.png"], "truth": "truth.npz"})", kCorruptData, "'../x.png'"},
      {start + R"("views": ["view_1.png", "/etc/passwd"], "truth": "truth.npz"})", kCorruptData, "'/etc/passwd'"},
      {start + R"("views": ["view_1.png", ""], "truth": "truth.npz"})", kCorruptData, "''"},
      {start + R"("views": ["view_1.png", "view_2.png"]})", kCorruptData, "no key 'truth'"},
      {start + R"("views": ["view_1.png", "view_2.png"], "truth": "gone.npz"})", kNotFound, "'gone.npz'"},
      {start + R"("views": ["view_1.png", "view_2.png"], "truth": "view_1.png"})", kCorruptData, "view_1.png"},
      {start + "\"x\": \"" + std::string(2'000'000, 'x') + "\"}", kLimitExceeded, "the limit is 1048576"},
  };
  for (const auto& [text, code, words] : rows) {
    SCOPED_TRACE(text.substr(0, 100));
    write_description(text);
    expect_error(code, words);
  }
}

TEST_F(SceneFolderTest, RefusesTruthThatIsWrong) {
  const std::tuple<Truth, ErrorCode, const char*> rows[] = {
      {{.has_depth = false}, kNotFound, "depth_2"},
      {{.depth_is_double = true}, kCorruptData, "'depth_2' is F64, wanted F32"},
      {{.depth_shape = {6}}, kCorruptData, "'depth_2' has 1 dimensions, wanted 2"},
      {{.depth_shape = {0, 3}}, kCorruptData, "'depth_2' is 0 x 3"},
      {{.intrinsics = {0, 0, 1, 0, 50, 0.5, 0, 0, 1}}, kCorruptData, "intrinsics_2"},
      {{.intrinsics = {50, 1, 1, 0, 50, 0.5, 0, 0, 1}}, kCorruptData, "intrinsics_2"},
      {{.intrinsics = {std::numeric_limits<double>::quiet_NaN(), 0, 1, 0, 50, 0.5, 0, 0, 1}}, kCorruptData, "not finite"},
      {{.pose_shape = {2, 8}}, kCorruptData, "'world_from_cam_2' is not 4 x 4"},
      {{.pose = {2, 0, 0, 4, 0, 2, 0, 5, 0, 0, 2, 6, 0, 0, 0, 1}}, kCorruptData, "not a rotation"},   // a scale
      {{.pose = {-1, 0, 0, 4, 0, 1, 0, 5, 0, 0, 1, 6, 0, 0, 0, 1}}, kCorruptData, "not a rotation"},  // a mirror
      {{.pose = {1, 0, 0, 4, 0, 1, 0, 5, 0, 0, 1, 6, 0, 0, 1, 1}}, kCorruptData, "not a rotation"},   // a projection
  };
  for (const auto& [truth, code, words] : rows) {
    SCOPED_TRACE(words);
    write_truth(truth);
    expect_error(code, words);
  }
  std::ofstream(folder_ / "truth.npz") << "PK nonsense";
  expect_error(kCorruptData, "truth.npz");
}

}  // namespace
}  // namespace pointmap
