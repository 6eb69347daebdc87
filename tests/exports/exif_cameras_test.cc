// Photos that EXIF turns: COLMAP and nerfstudio open the pixels as they are stored, and must find a camera for those.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "colmap_reader.h"
#include "exact_scene.h"
#include "geometry/pinhole.h"
#include "scene/export_scene.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pointwise;

constexpr double kPixelEps = 1e-13;  // as in colmap_export_test.cc

// Where the pixel that a person sees at the top left is stored, for pixels of 16 x 12 seen upright: from the table of the EXIF standard, by
// which side of the picture row 0 and column 0 are.
const std::map<int, Pixel> kStoredTopLeft = {{1, {0, 0}}, {3, {15, 11}}, {6, {0, 15}}, {8, {11, 0}}};

Scene scene_stored_as(int orientation) {
  Scene scene = exact_scene();
  for (SceneView& view : scene.views) store_with_orientation(view, orientation);
  return scene;
}

class TurnedPhotos : public testing::TestWithParam<int> {
 protected:
  TemporaryFolder out_{"exif_" + std::to_string(GetParam())};
};

TEST_P(TurnedPhotos, ColmapFindsPointsInTheStoredPixels) {
  const Scene scene = scene_stored_as(GetParam());
  const auto files = export_scene(scene, out_.path(), {.formats = {ExportFormat::kColmap}});
  const ReadModel model = read_colmap_binary(out_.path() / "colmap/sparse/0");
  expect_consistent(model);
  for (const auto& [image_id, image] : model.images) {
    const SceneView& view = scene.views[image_id - 1];
    const ReadCamera& camera = model.cameras.at(image.camera_id);
    EXPECT_EQ(camera.width, static_cast<uint64_t>(view.transform.stored_width));
    EXPECT_EQ(camera.height, static_cast<uint64_t>(view.transform.stored_height));
    const auto& position = view.camera->world_from_cam.translation;
    EXPECT_THAT(centre_of(image), Pointwise(DoubleNear(2e-15), position)) << "turning the picture moves no camera";
    ASSERT_EQ(image.observations.size(), 48u);
    for (int v = 0; v < 6; ++v) {
      for (int u = 0; u < 8; ++u) {
        const ReadObservation& seen = image.observations[static_cast<size_t>(8 * v + u)];
        const Pixel stored = view.transform.stored_from_network({static_cast<double>(u), static_cast<double>(v)});
        EXPECT_EQ(seen.x, stored.u + 0.5);
        EXPECT_EQ(seen.y, stored.v + 0.5);
        EXPECT_THAT(projected(camera, image, model.points.at(seen.point_id).xyz), Pointwise(DoubleNear(kPixelEps), {seen.x, seen.y}));
      }
    }
    // A point on the ray through the oriented photo's top-left pixel: its network pixel is (-0.25, -0.25), its depth 8.
    const Point3 on_ray = transform_point(view.camera->world_from_cam, unproject(view.camera->network, {-0.25, -0.25}, 8));
    const Pixel corner = kStoredTopLeft.at(GetParam());
    EXPECT_THAT(projected(camera, image, on_ray), Pointwise(DoubleNear(kPixelEps), {corner.u + 0.5, corner.v + 0.5}));
  }
  const bool is_turned = GetParam() != 1;
  EXPECT_EQ(files[0].convention.find("EXIF orientation turns these views") != std::string::npos, is_turned);
}

TEST_P(TurnedPhotos, NerfstudioFindsPointsInTheStoredPixels) {
  const Scene scene = scene_stored_as(GetParam());
  export_scene(scene, out_.path(), {.formats = {ExportFormat::kNerfstudio}});
  const auto json = nlohmann::json::parse(content_of(out_.path() / "transforms.json"));
  EXPECT_EQ(json["w"], scene.views[0].transform.stored_width);
  EXPECT_EQ(json["h"], scene.views[0].transform.stored_height);
  for (size_t i = 0; i < 2; ++i) {
    const SceneView& view = scene.views[i];
    EXPECT_EQ(json["frames"][i]["exif_orientation"], GetParam());
    const auto matrix = json["frames"][i]["transform_matrix"].get<std::vector<std::vector<double>>>();
    const Point3 point = {view.points[3 * 10], view.points[3 * 10 + 1], view.points[3 * 10 + 2]};  // row 1, column 2
    Point3 in_cam = {};  // the inverse of a rotation is its transpose
    for (size_t axis = 0; axis < 3; ++axis) {
      for (size_t r = 0; r < 3; ++r) in_cam[axis] += matrix[r][axis] * (point[r] - matrix[r][3]);
    }
    const Pixel stored = view.transform.stored_from_network({2, 1});
    // y is up and z is backward.
    EXPECT_NEAR(json["fl_x"].get<double>() * in_cam[0] / -in_cam[2] + json["cx"].get<double>(), stored.u + 0.5, kPixelEps);
    EXPECT_NEAR(json["fl_y"].get<double>() * -in_cam[1] / -in_cam[2] + json["cy"].get<double>(), stored.v + 0.5, kPixelEps);
  }
}

INSTANTIATE_TEST_SUITE_P(Orientations, TurnedPhotos, testing::Values(1, 3, 6, 8));

class MirroredPhotos : public testing::TestWithParam<int> {};

TEST_P(MirroredPhotos, AreRefusedBeforeAnythingIsWritten) {
  const TemporaryFolder out("mirrored_" + std::to_string(GetParam()));
  Scene scene = exact_scene();
  store_with_orientation(scene.views[1], GetParam());
  for (const ExportFormat format : {ExportFormat::kColmap, ExportFormat::kNerfstudio}) {
    try {
      export_scene(scene, out.path(), {.formats = {ExportFormat::kNpz, format}});
      ADD_FAILURE() << "wrote a camera for mirrored pixels";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kInvalidArgument);
      EXPECT_THAT(error.what(),
                  HasSubstr("view 2 ('photos/right.png') is stored mirrored (EXIF orientation " + std::to_string(GetParam())));
      EXPECT_THAT(error.what(), HasSubstr("leave out the format " + std::string(export_format_name(format))));
    }
    EXPECT_FALSE(fs::exists(out.path()));
  }
  // A trajectory has no pixels.
  EXPECT_NO_THROW(export_scene(scene, out.path(), {.formats = {ExportFormat::kTum}}));
}

INSTANTIATE_TEST_SUITE_P(Orientations, MirroredPhotos, testing::Values(2, 4, 5, 7));

}  // namespace
}  // namespace pointmap
