// COLMAP itself reads our models, text and binary, and finds the same in both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "base/atomic_file.h"
#include "colmap_reader.h"
#include "exact_scene.h"
#include "io/image/fixtures_testing.h"
#include "scene/export_scene.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// What the command prints, both streams; the test fails unless it exits with 0.
std::string output_of(const std::string& command) {
  FILE* pipe = popen(("QT_QPA_PLATFORM=offscreen " + command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << "cannot start " << command;
    return "";
  }
  std::string output;
  std::array<char, 4096> block;
  for (size_t count; (count = fread(block.data(), 1, block.size(), pipe)) > 0;) output.append(block.data(), count);
  EXPECT_EQ(pclose(pipe), 0) << command << "\n" << output;
  return output;
}

class ColmapTool : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(POINTMAP_COLMAP)) GTEST_SKIP() << "colmap is not installed";
  }
  // What COLMAP makes of the model in one of our folders, through its own files of the other kind.
  ReadModel converted(const std::string& from, const std::string& kind) {
    const fs::path to = out_.path() / ("as_" + kind);
    fs::create_directories(to);
    output_of(std::string(POINTMAP_COLMAP) + " model_converter --input_path '" + (out_.path() / "colmap" / from / "0").string() +
              "' --output_path '" + to.string() + "' --output_type " + kind);
    return kind == "BIN" ? read_colmap_binary(to) : read_colmap_text(to);
  }
  TemporaryFolder out_{"colmap_tool"};
};

// Two lenses, a view without points, a turned photo, and names that try something.
Scene varied_scene() {
  Scene scene = exact_scene();
  scene.views.push_back(scene.views[0]);
  scene.views.push_back(scene.views[1]);
  store_with_orientation(scene.views[1], 6);
  scene.views[2].confidence.assign(48, 0);
  scene.views[2].source = "photos/left.png";  // the same photo twice
  scene.views[3].source = "photos/more/gr\xC3\xBC\xC3\x9F.png";
  return scene;
}

TEST_F(ColmapTool, AnalysesBothKinds) {
  export_scene(varied_scene(), out_.path(), {.formats = {ExportFormat::kColmap}, .filter = {.percentile = 30}});
  for (const char* folder : {"sparse", "sparse_text"}) {
    const std::string output =
        output_of(std::string(POINTMAP_COLMAP) + " model_analyzer --path '" + (out_.path() / "colmap" / folder / "0").string() + "'");
    for (const char* line : {"Cameras: 2\n", "Registered images: 4\n", "Mean track length: 1.0", "Mean reprojection error: 0.000000px\n"}) {
      EXPECT_THAT(output, HasSubstr(line)) << folder;
    }
    const ReadModel model = read_colmap_binary(out_.path() / "colmap/sparse/0");
    EXPECT_THAT(output, HasSubstr("Points: " + std::to_string(model.points.size()) + "\n"));
    EXPECT_THAT(output, HasSubstr("Observations: " + std::to_string(model.points.size()) + "\n"));
  }
}

TEST_F(ColmapTool, FindsTheSameInBothKinds) {
  export_scene(varied_scene(), out_.path(), {.formats = {ExportFormat::kColmap}, .filter = {.percentile = 30}});
  const ReadModel ours = read_colmap_binary(out_.path() / "colmap/sparse/0");
  ASSERT_TRUE(ours.images.at(3).observations.empty());
  ReadModel theirs = converted("sparse_text", "BIN");
  EXPECT_TRUE(theirs.cameras == ours.cameras);
  EXPECT_TRUE(theirs.points == ours.points);
  ASSERT_EQ(theirs.images.size(), ours.images.size());
  for (auto& [id, image] : theirs.images) {
    // COLMAP makes the quaternion's length 1 again, which may move its last bit.
    EXPECT_THAT(image.q, testing::Pointwise(testing::DoubleNear(1e-15), ours.images.at(id).q));
    image.q = ours.images.at(id).q;
    EXPECT_TRUE(image == ours.images.at(id)) << id;
  }
  ReadModel theirs_as_text = converted("sparse", "TXT");
  for (auto& [id, image] : theirs_as_text.images) {
    EXPECT_THAT(image.q, testing::Pointwise(testing::DoubleNear(1e-15), ours.images.at(id).q));
    image.q = ours.images.at(id).q;
  }
  EXPECT_TRUE(theirs_as_text == ours);
}

// What our treatment of EXIF stands on: of a turned photo COLMAP takes the pixels as they are stored.
TEST_F(ColmapTool, OpensTurnedPhotosAsTheyAreStored) {
  using fixtures::operator+;
  const fs::path photos = out_.path() / "photos";
  fs::create_directories(photos);
  for (const int orientation : {1, 3, 6, 8}) {
    Scene scene = exact_scene();
    scene.views.resize(1);
    store_with_orientation(scene.views[0], orientation);
    export_scene(scene, out_.path(), {.formats = {ExportFormat::kColmap}});
    const ReadModel model = read_colmap_binary(out_.path() / "colmap/sparse/0");
    const ReadCamera& camera = model.cameras.at(1);

    const fixtures::JpegSpec spec = {.app1 =
                                         fixtures::bytes_of(std::string_view("Exif\0\0", 6)) + fixtures::exif_block(orientation, false)};
    const auto width = static_cast<int>(camera.width), height = static_cast<int>(camera.height);
    write_file(photos / model.images.at(1).name, fixtures::make_jpeg(fixtures::quarters(width, height), spec));
    const fs::path database = out_.path() / ("database_" + std::to_string(orientation));
    const std::string output = output_of(std::string(POINTMAP_COLMAP) + " feature_extractor --database_path '" + database.string() +
                                         "' --image_path '" + photos.string() + "' --SiftExtraction.use_gpu 0");
    EXPECT_THAT(output, testing::ContainsRegex("Dimensions: +" + std::to_string(width) + " x " + std::to_string(height) + "\n"));
  }
}

TEST_F(ColmapTool, ReadsNamesThatAreNoWords) {
  Scene scene = exact_scene();
  scene.views[0].source = "photos/two  words\n#3 \xFF.jpg";
  export_scene(scene, out_.path(), {.formats = {ExportFormat::kColmap}});
  EXPECT_EQ(converted("sparse_text", "BIN").images.at(1).name, "two__words_#3_\xFF.jpg");
  // There and back again in COLMAP's own binary.
  const fs::path to = out_.path() / "again";
  fs::create_directories(to);
  output_of(std::string(POINTMAP_COLMAP) + " model_converter --input_path '" + (out_.path() / "colmap/sparse/0").string() +
            "' --output_path '" + to.string() + "' --output_type BIN");
  EXPECT_EQ(read_colmap_binary(to).images.at(1).name, "two  words\n#3 \xFF.jpg");
}

}  // namespace
}  // namespace pointmap
