// transforms.json as nerfstudio's description of it has it (docs.nerf.studio, data conventions).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "exact_scene.h"
#include "scene/export_scene.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using Matrix = std::vector<std::vector<double>>;

class NerfstudioExport : public testing::Test {
 protected:
  json write(const Scene& scene, const std::string& formats = "nerfstudio") {
    files_ = export_scene(scene, out_.path() / "result", {.formats = parse_formats(formats), .generator = "pointmap 9.9"});
    return json::parse(content_of(out_.path() / "result/transforms.json"));
  }
  TemporaryFolder out_{"nerfstudio"};
  std::vector<ExportedFile> files_;
};

TEST_F(NerfstudioExport, ACameraWithAQuarterTurnComesBack) {
  const json transforms = write(exact_scene());
  ASSERT_EQ(transforms["frames"].size(), 2u);
  const auto matrix = transforms["frames"][1]["transform_matrix"].get<Matrix>();
  // Columns: right is the world's -z, up is -y, backward is -x; then where it is.
  EXPECT_THAT(matrix, ElementsAre(ElementsAre(0, 0, -1, 1), ElementsAre(0, -1, 0, 2), ElementsAre(-1, 0, 0, 3), ElementsAre(0, 0, 0, 1)));
  EXPECT_THAT(transforms["frames"][0]["transform_matrix"].get<Matrix>(),
              ElementsAre(ElementsAre(1, 0, 0, 0), ElementsAre(0, -1, 0, 0), ElementsAre(0, 0, -1, 0), ElementsAre(0, 0, 0, 1)));
}

TEST_F(NerfstudioExport, OneLensIsSaidOnce) {
  const json transforms = write(exact_scene());
  EXPECT_EQ(transforms["camera_model"], "OPENCV");
  for (const char* name : {"k1", "k2", "p1", "p2"}) EXPECT_EQ(transforms[name], 0.0);
  const json want = {{"w", 16}, {"h", 12}, {"fl_x", 16.0}, {"fl_y", 32.0}, {"cx", 8.0}, {"cy", 5.5}};
  for (const auto& [name, value] : want.items()) {
    EXPECT_EQ(transforms[name], value) << name;
    EXPECT_FALSE(transforms["frames"][0].contains(name)) << name;
  }
}

TEST_F(NerfstudioExport, DifferentLensesAreSaidForEachFrame) {
  Scene scene = exact_scene();
  scene.views[1].camera->original = {.fx = 20, .fy = 21, .cx = 1.25, .cy = 0};
  const json transforms = write(scene);
  EXPECT_FALSE(transforms.contains("fl_x")) << "it would be taken for all";
  EXPECT_EQ(transforms["frames"][0]["fl_x"], 16.0);
  EXPECT_EQ(transforms["frames"][1]["fl_x"], 20.0);
  EXPECT_EQ(transforms["frames"][1]["fl_y"], 21.0);
  EXPECT_EQ(transforms["frames"][1]["cx"], 1.75);
  EXPECT_EQ(transforms["frames"][1]["cy"], 0.5);
  EXPECT_EQ(transforms["frames"][1]["w"], 16);
}

TEST_F(NerfstudioExport, NamesThePhotosFromItsOwnFolder) {
  Scene scene = exact_scene();
  const fs::path photos = out_.path() / "my photos";
  fs::create_directories(photos);
  scene.views[0].source = photos / "a b.jpg";
  scene.views[1].source = photos / "latin1 \xFC.jpg";  // not UTF-8: JSON cannot say it
  json transforms = write(scene);
  EXPECT_EQ(transforms["frames"][0]["file_path"], "../my photos/a b.jpg");
  EXPECT_EQ(transforms["frames"][1]["file_path"], "../my photos/latin1 \xEF\xBF\xBD.jpg");

  // Through a link: the way must be the one that the file system walks.
  fs::create_directories(out_.path() / "deep/er");
  fs::create_directory_symlink(out_.path() / "deep/er", out_.path() / "link");
  export_scene(scene, out_.path() / "link", {.formats = parse_formats("nerfstudio")});
  transforms = json::parse(content_of(out_.path() / "link/transforms.json"));
  EXPECT_EQ(transforms["frames"][0]["file_path"], "../../my photos/a b.jpg");
}

TEST_F(NerfstudioExport, NamesTheCloudWhenThereIsOne) {
  EXPECT_FALSE(write(exact_scene()).contains("ply_file_path"));
  const json transforms = write(exact_scene(), "nerfstudio,ply");
  EXPECT_EQ(transforms["ply_file_path"], "scene.ply");
  EXPECT_THAT(transforms["applied_transform"].get<Matrix>(),
              ElementsAre(ElementsAre(1, 0, 0, 0), ElementsAre(0, 1, 0, 0), ElementsAre(0, 0, 1, 0)));
}

TEST_F(NerfstudioExport, LeavesOutSkippedViewsAndKeepsTheirNumbers) {
  Scene scene = exact_scene();
  scene.views[0].status = "skipped";
  const json transforms = write(scene);
  ASSERT_EQ(transforms["frames"].size(), 1u);
  EXPECT_EQ(transforms["frames"][0]["view"], 2);
}

TEST_F(NerfstudioExport, SaysWhatItIsAndTheSameEveryTime) {
  Scene scene = exact_scene();
  scene.scale = {.is_metric = true, .source = "known poses"};
  const json transforms = write(scene);
  EXPECT_EQ(transforms["generator"], "pointmap 9.9");
  EXPECT_EQ(transforms["model"], "exact");
  EXPECT_EQ(transforms["convention"], files_[0].convention);
  EXPECT_THAT(files_[0].convention, HasSubstr("OpenGL"));
  EXPECT_THAT(files_[0].convention, HasSubstr("in metres (known poses)"));
  const std::string first = content_of(files_[0].path);
  write(scene);
  EXPECT_EQ(content_of(files_[0].path), first);
}

}  // namespace
}  // namespace pointmap
