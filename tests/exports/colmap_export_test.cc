// What COLMAP finds in our models: cameras where they are, and points that project to where they were seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "colmap_reader.h"
#include "exact_scene.h"
#include "scene/export_scene.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

const ExportOptions kColmapOnly = {.formats = {ExportFormat::kColmap}};

// The quaternion is rounded to 2^-53 or so and moves points up to 8 from the origin by a few times that; a pixel is 1/32 of a unit there.
constexpr double kPixelEps = 1e-13;

class ColmapExport : public testing::Test {
 protected:
  std::vector<ExportedFile> write(const Scene& scene, const ExportOptions& options = kColmapOnly) {
    std::vector<ExportedFile> files = export_scene(scene, out_.path(), options);
    binary_ = read_colmap_binary(out_.path() / "colmap/sparse/0");
    text_ = read_colmap_text(out_.path() / "colmap/sparse_text/0");
    expect_consistent(binary_);
    return files;
  }
  std::string head_of_images() const { return content_of(out_.path() / "colmap/sparse_text/0/images.txt").substr(0, 4000); }

  TemporaryFolder out_{"colmap_export"};
  ReadModel binary_;
  ReadModel text_;
};

TEST_F(ColmapExport, TextAndBinaryAreTheSameModel) {
  write(exact_scene());
  EXPECT_EQ(binary_.points.size(), 96u);
  EXPECT_TRUE(binary_ == text_);
}

TEST_F(ColmapExport, ACameraWithAQuarterTurnComesBack) {
  write(exact_scene());
  ASSERT_EQ(binary_.images.size(), 2u);
  const ReadImage& right = binary_.images.at(2);
  EXPECT_THAT(centre_of(right), Pointwise(DoubleNear(1e-15), {1.0, 2.0, 3.0}));
  EXPECT_THAT(sight_of(right), Pointwise(DoubleNear(1e-15), {1.0, 0.0, 0.0}));
  EXPECT_GT(right.q[0], 0) << "of two quaternions the one with a positive w";
  const ReadImage& left = binary_.images.at(1);
  EXPECT_THAT(left.q, ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(left.t, ElementsAre(0, 0, 0));
}

TEST_F(ColmapExport, CamerasAreInPixelsOfThePhoto) {
  write(exact_scene());
  ASSERT_EQ(binary_.cameras.size(), 1u) << "views with one lens share it";
  const ReadCamera& camera = binary_.cameras.at(1);
  EXPECT_EQ(camera.width, 16u);
  EXPECT_EQ(camera.height, 12u);
  // Twice the network's 8 and 16. Its principal point (3.5, 2.25) is (4, 2.75) pixels from the picture's corner; twice that.
  EXPECT_THAT(camera.params, ElementsAre(16, 32, 8, 5.5));

  Scene scene = exact_scene();
  scene.views[1].camera->original.fx += 1e-9;
  write(scene);
  EXPECT_EQ(binary_.cameras.size(), 2u);
  EXPECT_EQ(binary_.images.at(2).camera_id, 2u);
}

TEST_F(ColmapExport, PointsProjectToWhereTheyWereSeen) {
  write(exact_scene());
  size_t num_seen = 0;
  for (const auto& [image_id, image] : binary_.images) {
    for (const ReadObservation& seen : image.observations) {
      const ReadPoint& point = binary_.points.at(seen.point_id);
      EXPECT_THAT(projected(binary_.cameras.at(image.camera_id), image, point.xyz), Pointwise(DoubleNear(kPixelEps), {seen.x, seen.y}));
      EXPECT_NEAR(point.error, 0, kPixelEps);
      EXPECT_THAT(point.track, ElementsAre(testing::Pair(image_id, testing::_)));
      ++num_seen;
    }
  }
  EXPECT_EQ(num_seen, 96u);
  // Row 1, column 3: the middle of that network pixel is 7 and 3 photo pixels from the corner.
  const ReadObservation& eleventh = binary_.images.at(2).observations.at(1 * 8 + 3);
  EXPECT_EQ(eleventh.x, 7);
  EXPECT_EQ(eleventh.y, 3);
  EXPECT_THAT(binary_.points.at(eleventh.point_id).rgb, ElementsAre(11, 22, 200));
}

TEST_F(ColmapExport, TheErrorIsTheDistanceInThePhoto) {
  Scene scene = exact_scene();
  scene.views[0].points[0] += 1;     // depth 4: 16 / 4 pixels to the side
  scene.views[0].points[3 + 2] = 0;  // in the plane of the camera
  scene.views[0].points[6 + 2] = -2;
  write(scene);
  EXPECT_EQ(binary_.points.at(1).error, 4);
  EXPECT_EQ(binary_.points.at(2).error, -1);
  EXPECT_EQ(binary_.points.at(3).error, -1);
  EXPECT_EQ(binary_.points.at(4).error, 0);
}

TEST_F(ColmapExport, HasThePointsThatTheFilterKeeps) {
  Scene scene = exact_scene();
  scene.views[0].confidence.assign(48, 0.5f);  // below all of the other view
  scene.views[1].points[3 * 47] = std::nanf("");
  const auto files = write(scene, {.formats = {ExportFormat::kColmap}, .filter = {.percentile = 60}});
  EXPECT_TRUE(binary_ == text_);
  EXPECT_TRUE(binary_.images.at(1).observations.empty()) << "and its second line in images.txt is there and empty";
  EXPECT_EQ(binary_.images.at(2).observations.size(), 38u);  // rank 57 of 95: all but 48 and 9 more
  size_t num_reported = 0;
  for (const ExportedFile& file : files) {
    EXPECT_EQ(file.bytes, content_of(file.path).size()) << file.path;
    if (file.path.stem() != "points3D") continue;
    EXPECT_EQ(file.num_kept, 38u);
    EXPECT_EQ(file.num_total, 96u);
    ++num_reported;
  }
  EXPECT_EQ(num_reported, 2u);
  EXPECT_EQ(files.size(), 7u);
}

TEST_F(ColmapExport, LeavesOutSkippedViewsAndKeepsTheirNumbers) {
  Scene scene = exact_scene();
  SceneView skipped;
  skipped.source = "broken.jpg";
  skipped.status = "skipped";
  scene.views.insert(scene.views.begin(), skipped);
  write(scene);
  ASSERT_EQ(binary_.images.size(), 2u);
  EXPECT_EQ(binary_.images.at(2).name, "left.png");
  EXPECT_EQ(binary_.images.at(3).name, "right.png");
  EXPECT_THAT(head_of_images(), HasSubstr("the world is the camera frame of view 2"));
}

TEST_F(ColmapExport, PointsMayComeFromDepth) {
  Scene scene = exact_scene();
  for (SceneView& view : scene.views) view.points.assign(view.points.size(), 7.0f);
  write(scene, {.formats = {ExportFormat::kColmap}, .points = PointSource::kDepth});
  for (const auto& [id, point] : binary_.points) EXPECT_NEAR(point.error, 0, kPixelEps);
}

TEST_F(ColmapExport, NamesAreRelativeToTheFolderOfAllPhotos) {
  Scene scene = exact_scene();
  write(scene);
  EXPECT_EQ(binary_.images.at(1).name, "left.png");
  EXPECT_THAT(head_of_images(), HasSubstr("relative to the folder 'photos'"));
  scene.views[0].source = "trip/day1/img.jpg";
  scene.views[1].source = "trip/day2/img.jpg";
  write(scene);
  EXPECT_EQ(binary_.images.at(1).name, "day1/img.jpg");
  EXPECT_EQ(binary_.images.at(2).name, "day2/img.jpg");
}

TEST_F(ColmapExport, TakesNamesAsTheyAre) {
  Scene scene = exact_scene();
  scene.model = "a model\nwith a line break";
  scene.views[0].source = "photos/two  words\n#3 \xFF.jpg";
  scene.views[1].source = "photos/gr\xC3\xBC\xC3\x9F.jpg";
  write(scene);
  EXPECT_EQ(binary_.images.at(1).name, "two  words\n#3 \xFF.jpg");
  EXPECT_EQ(text_.images.at(1).name, "two__words_#3_\xFF.jpg");
  EXPECT_EQ(binary_.images.at(2).name, "gr\xC3\xBC\xC3\x9F.jpg");
  text_.images.at(1).name = binary_.images.at(1).name;
  EXPECT_TRUE(binary_ == text_);
}

TEST_F(ColmapExport, SaysWhatItIs) {
  ExportOptions options = kColmapOnly;
  options.generator = "pointmap 9.9";
  const auto files = write(exact_scene(), options);
  for (const ExportedFile& file : files) {
    EXPECT_THAT(file.convention, HasSubstr("(0.5, 0.5) the centre of the top-left pixel"));
    EXPECT_THAT(file.convention, HasSubstr("scale unknown"));
    if (file.path.extension() != ".txt") continue;
    for (const std::string& fact : {std::string("pointmap 9.9"), std::string("model: exact"), file.convention}) {
      EXPECT_THAT(content_of(file.path), HasSubstr(fact)) << file.path;
    }
  }
}

TEST_F(ColmapExport, IsTheSameEveryTimeAndInAnyCompany) {
  const auto files = write(exact_scene());
  std::vector<std::string> first;
  for (const ExportedFile& file : files) first.push_back(content_of(file.path));
  write(exact_scene(), {.formats = parse_formats("tum,colmap,nerfstudio,ply,npz")});
  for (size_t i = 0; i < files.size(); ++i) EXPECT_EQ(content_of(files[i].path), first[i]) << files[i].path;
}

}  // namespace
}  // namespace pointmap
