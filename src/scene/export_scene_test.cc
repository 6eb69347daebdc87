// Files written from a scene worked out by hand. That the formats are right is tested beside their writers.
#include "scene/export_scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "io/npz/npz_file.h"
#include "scene/export_npz.h"
#include "scene/scene_testing.h"
#include "scene/shown_points.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

class ExportScene : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }
  std::string content(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  const fs::path folder_ = fs::path(testing::TempDir()) / ("pointmap_export_" + std::to_string(::getpid())) / "inner";
};

TEST(ParseFormats, TakesNamesInAnyOrder) {
  EXPECT_THAT(parse_formats("ply"), ElementsAre(ExportFormat::kPly));
  EXPECT_THAT(parse_formats("depth,npz,glb,ply,npz"),
              ElementsAre(ExportFormat::kNpz, ExportFormat::kPly, ExportFormat::kGlb, ExportFormat::kDepth));
  EXPECT_EQ(parse_formats("all").size(), export_format_names().size());
  for (const ExportFormat format : parse_formats("all")) {
    EXPECT_THAT(parse_formats(export_format_name(format)), ElementsAre(format));
  }
}

TEST(ParseFormats, ListsTheNamesForAnythingElse) {
  for (const char* text : {"", "obj", "npz,", ",npz", "npz ply", "PLY"}) {
    try {
      parse_formats(text);
      ADD_FAILURE() << "took '" << text << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kInvalidArgument);
      EXPECT_THAT(error.what(), HasSubstr("npz, ply, glb, depth, picture, colmap, nerfstudio, tum, html"));
    }
  }
}

TEST(ParseDepthFormats, TakesTheSameKindOfList) {
  EXPECT_THAT(parse_depth_formats("npy,png16"), ElementsAre(DepthFormat::kPng16, DepthFormat::kNpy));
  EXPECT_EQ(parse_depth_formats("all").size(), 4u);
  for (const DepthFormat format : parse_depth_formats("all")) {
    EXPECT_THAT(parse_depth_formats(depth_format_name(format)), ElementsAre(format));
  }
  try {
    parse_depth_formats("tiff");
    FAIL() << "took tiff";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "depth format 'tiff' is none of png16, pfm, exr, npy");
  }
}

TEST_F(ExportScene, WritesWhatWasAskedForAndCountsIt) {
  Scene scene = counting_scene();
  pad_sides(scene.views[0]);  // 12 photo pixels left
  const auto files =
      export_scene(scene, folder_, {.formats = parse_formats("npz,ply,glb,depth,picture,html"), .filter = {.percentile = 25}});
  std::vector<std::string> names;
  for (const ExportedFile& file : files) {
    names.push_back(file.path.filename());
    EXPECT_EQ(file.bytes, content(file.path.filename()).size());
    EXPECT_GT(file.bytes, 0u);
  }
  ASSERT_THAT(names, ElementsAre("scene.npz", "scene.ply", "scene.glb", "depth_1.png", "conf_1.png", "depth_2.png", "conf_2.png",
                                 "depth.json", "cloud.png", "scene.html"));
  EXPECT_EQ(files[9].num_kept, 12u) << "the page leaves the threshold to its reader";
  EXPECT_EQ(files[9].num_total, 12u);
  EXPECT_THAT(content("scene.html"), HasSubstr("\"percentile\":25"));
  EXPECT_EQ(files[1].num_kept, 9u);  // rank 3 of the confidences 2, 3, 6, 7, 101..108
  EXPECT_EQ(files[1].num_total, 12u);
  EXPECT_EQ(files[2].num_kept, 9u);
  EXPECT_EQ(files[3].num_kept, 4u);
  EXPECT_EQ(files[3].num_total, 4u);
  EXPECT_EQ(files[4].num_kept, 4u) << "pixels with confidence";
  EXPECT_EQ(files[5].num_kept, 8u);
  EXPECT_THAT(content("scene.ply"), HasSubstr("element vertex 9\n"));
  EXPECT_THAT(content("scene.ply"), HasSubstr("comment kept 9 of 12 pixels: finite, of confidence 7 or more\n"));
  EXPECT_THAT(content("scene.ply"), testing::Not(HasSubstr("nx")));
  EXPECT_THAT(content("scene.glb"), HasSubstr("\"pixels\":12,\"points\":9"));
  EXPECT_THAT(content("scene.glb"), HasSubstr("kept 9 of 12 pixels"));
  EXPECT_THAT(content("scene.glb"), HasSubstr("\"count\":9"));
  EXPECT_THAT(content("scene.glb"), HasSubstr("model tiny, views 'photo.jpg' 'photo.jpg'"));
}

TEST_F(ExportScene, NormalsAndAMeshOnRequest) {
  const auto files =
      export_scene(counting_scene(), folder_,
                   {.formats = parse_formats("ply,glb"), .filter = {.percentile = 50}, .ply_normals = true, .glb_mesh = true});
  EXPECT_EQ(files[0].num_kept, 8u);
  EXPECT_THAT(content("scene.ply"),
              HasSubstr("property float z\nproperty float nx\nproperty float ny\nproperty float nz\nproperty uchar red\n"));
  EXPECT_THAT(content("scene.ply"), HasSubstr("comment nx ny nz: across"));
  EXPECT_EQ(files[1].num_kept, 8u) << "all of view 2: a band of 2 x 4";
  EXPECT_EQ(files[1].num_total, 16u);
  EXPECT_THAT(content("scene.glb"), HasSubstr("\"mode\":4"));
  EXPECT_THAT(content("scene.glb"), HasSubstr("\"count\":18")) << "corners of two triangles in each of three squares";
}

// A camera two pixels wide at (1, 0, 0), looking along the world's x; depth 2 everywhere.
SceneView view_with_depth() {
  SceneView view = counting_view(2, 1, 1);
  view.camera = {.world_from_cam = {.rotation = {0, 0, 1, 0, 1, 0, -1, 0, 0}, .translation = {1, 0, 0}},
                 .network = {.fx = 4, .fy = 4, .cx = 1, .cy = 0},
                 .original = {.fx = 4, .fy = 4, .cx = 1, .cy = 0}};
  view.depth.assign(2, 2.0f);
  view.depth_confidence = {5, 9};
  return view;
}

TEST(ShownPoints, DepthPutsEveryPixelOnItsRay) {
  // Pixel 0: (0 - 1) * 2 / 4 = -0.5 to the right, which is the world's -z after the turn.
  EXPECT_THAT(points_from_depth(view_with_depth()), ElementsAre(3, 0, 0.5f, 3, 0, 0));
  SceneView without = view_with_depth();
  without.camera.reset();
  EXPECT_THROW((void)points_from_depth(without), Error);
}

TEST(ShownPoints, AutoTakesDepthWhereTheNetworkHasOneWithACamera) {
  Scene scene;
  scene.views = {view_with_depth(), view_with_depth()};
  EXPECT_EQ(resolved(PointSource::kAuto, scene), PointSource::kDepth);
  EXPECT_EQ(resolved(PointSource::kHead, scene), PointSource::kHead);
  scene.views[1].status = "skipped";
  scene.views[1].depth_confidence.clear();
  EXPECT_EQ(resolved(PointSource::kAuto, scene), PointSource::kDepth);
  scene.views[1].status = "ok";
  EXPECT_EQ(resolved(PointSource::kAuto, scene), PointSource::kHead);
  scene.views[1] = view_with_depth();
  scene.views[1].camera->network.fy = INFINITY;
  EXPECT_EQ(resolved(PointSource::kAuto, scene), PointSource::kHead);
}

TEST(ShownPoints, Names) {
  EXPECT_EQ(parse_point_source("auto"), PointSource::kAuto);
  EXPECT_EQ(parse_point_source("head"), PointSource::kHead);
  EXPECT_EQ(parse_point_source("depth"), PointSource::kDepth);
  EXPECT_THROW((void)parse_point_source("Depth"), Error);
}

TEST_F(ExportScene, CloudsShowTheChosenPoints) {
  Scene scene;
  scene.views = {view_with_depth()};
  auto files = export_scene(scene, folder_, {.formats = {ExportFormat::kPly}, .filter = {.percentile = 50}});
  EXPECT_EQ(files[0].points, PointSource::kDepth);
  EXPECT_EQ(files[0].num_kept, 1u);
  // The last record of the file: x, y, z, three colours and the confidence.
  const auto floats_at = [&](const std::string& bytes, size_t from_end) {
    std::array<float, 3> xyz;
    std::memcpy(xyz.data(), bytes.data() + bytes.size() - from_end, sizeof(xyz));
    return xyz;
  };
  constexpr size_t kRecord = 3 * sizeof(float) + 3 + sizeof(float);
  EXPECT_THAT(floats_at(content("scene.ply"), kRecord), ElementsAre(3, 0, 0)) << "the pixel whose depth is more confident";
  files = export_scene(scene, folder_, {.formats = {ExportFormat::kPly}, .points = PointSource::kHead});
  EXPECT_EQ(files[0].points, PointSource::kHead);
  EXPECT_THAT(floats_at(content("scene.ply"), kRecord), ElementsAre(1, -1, 2)) << "counting_view's second point";
  EXPECT_THROW(export_scene(counting_scene(), folder_, {.points = PointSource::kDepth}), Error) << "no depth in there";
}

TEST_F(ExportScene, GlbHasTheCamerasThatItCanHold) {
  Scene scene;
  scene.views = {view_with_depth(), view_with_depth(), counting_view(2, 1, 1)};
  scene.views[1].camera->original.fy = INFINITY;
  export_scene(scene, folder_, {.formats = {ExportFormat::kGlb}});
  const std::string glb = content("scene.glb");
  EXPECT_THAT(glb, HasSubstr("camera 1: photo.jpg"));
  EXPECT_THAT(glb, testing::Not(HasSubstr("camera 2")));
  EXPECT_THAT(glb, HasSubstr("\"aspectRatio\":2.0"));
}

TEST_F(ExportScene, WritesNothingThatWasNotAskedFor) {
  export_scene(counting_scene(), folder_, {.formats = {ExportFormat::kGlb}});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(ExportScene, LeavesNothingBehindWhenItRefuses) {
  Scene scene = counting_scene();
  for (SceneView& view : scene.views) view.confidence.assign(8, std::nanf(""));
  EXPECT_THROW(export_scene(scene, folder_), Error);
  EXPECT_THROW(export_scene(counting_scene(), folder_, {.filter = {.percentile = 101}}), Error);
  EXPECT_THROW(export_scene(counting_scene(), folder_, {.filter = {.percentile = 100}, .glb_mesh = true}), Error) << "one point";
  EXPECT_FALSE(fs::exists(folder_));
  EXPECT_NO_THROW(export_scene(scene, folder_, {.formats = {ExportFormat::kNpz}})) << "arrays may hold anything";
}

TEST_F(ExportScene, NamesTheFolderItCannotMake) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "x";
  try {
    export_scene(counting_scene(), folder_ / "file");
    FAIL() << "exported into a file";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kIoError);
    EXPECT_THAT(error.what(), HasSubstr("inner/file"));
  }
}

TEST_F(ExportScene, TheArchiveHasEveryArrayAsItIs) {
  fs::create_directories(folder_);
  Scene scene = counting_scene();
  scene.views[1].raw.assign(32, 0.5f);
  scene.views[0].points[0] = std::nanf("");  // kept: the arrays are what the network said
  pad_sides(scene.views[0]);
  export_npz(scene, folder_ / "scene.npz", {.deflate_level = 6});
  const NpzFile file = NpzFile::read(folder_ / "scene.npz");
  EXPECT_THAT(file.names(), ElementsAre("conf_1", "conf_2", "image_1", "image_2", "meta", "pts3d_1", "pts3d_2", "raw_2"));
  EXPECT_EQ(file.array("pts3d_1").shape, (Shape{2, 4, 3}));
  EXPECT_EQ(file.array("conf_2").shape, (Shape{2, 4}));
  EXPECT_EQ(file.array("raw_2").shape, (Shape{4, 2, 4}));
  EXPECT_TRUE(std::isnan(file.array("pts3d_1").as<float>()[0]));
  EXPECT_THAT(file.array("pts3d_2").as<float>(), ElementsAreArray(scene.views[1].points));
  EXPECT_THAT(file.array("conf_1").as<float>(), ElementsAreArray(scene.views[0].confidence));
}

TEST_F(ExportScene, TheArchiveHasCamerasAndDepthWhereTheSceneHas) {
  fs::create_directories(folder_);
  Scene scene = counting_scene();
  // A quarter turn to the right at (1, 2, 3).
  scene.views[1].camera = {.world_from_cam = {.rotation = {0, 0, 1, 0, 1, 0, -1, 0, 0}, .translation = {1, 2, 3}},
                           .network = {.fx = 10, .fy = 11, .cx = 1.5, .cy = 0.5},
                           .original = {.fx = 20, .fy = 22, .cx = 3.5, .cy = 1.5}};
  scene.views[1].depth.assign(8, 0.25f);
  export_npz(scene, folder_ / "scene.npz");
  const NpzFile file = NpzFile::read(folder_ / "scene.npz");
  EXPECT_FALSE(file.has("world_from_cam_1"));
  EXPECT_EQ(file.array("world_from_cam_2").shape, (Shape{4, 4}));
  EXPECT_THAT(file.array("world_from_cam_2").as<double>(), ElementsAre(0, 0, 1, 1, 0, 1, 0, 2, -1, 0, 0, 3, 0, 0, 0, 1));
  EXPECT_EQ(file.array("intrinsics_2").shape, (Shape{3, 3}));
  EXPECT_THAT(file.array("intrinsics_2").as<double>(), ElementsAre(10, 0, 1.5, 0, 11, 0.5, 0, 0, 1));
  EXPECT_THAT(file.array("original_intrinsics_2").as<double>(), ElementsAre(20, 0, 3.5, 0, 22, 1.5, 0, 0, 1));
  EXPECT_EQ(file.array("depth_2").shape, (Shape{2, 4}));
  EXPECT_EQ(file.array("depth_2").as<float>()[7], 0.25f);
  const auto meta = nlohmann::json::parse(file.array("meta").text());
  EXPECT_EQ(meta["views"][1]["arrays"], (std::vector<std::string>{"pts3d_2", "conf_2", "image_2", "world_from_cam_2", "intrinsics_2",
                                                                  "original_intrinsics_2", "depth_2"}));
  EXPECT_THAT(meta["camera_convention"].get<std::string>(), HasSubstr("world_from_cam"));

  scene.views[1].depth.pop_back();
  EXPECT_THROW(export_npz(scene, folder_ / "other.npz"), Error);
}

TEST_F(ExportScene, MetaTellsModelViewsAndTransforms) {
  fs::create_directories(folder_);
  Scene scene = counting_scene();
  scene.model_hash = "abc";
  scene.views[0].source = "gr\xC3\xBC\xC3\x9F \"e\".jpg";
  scene.views[1].source = "latin1 \xFC.jpg";  // not UTF-8
  scene.views[1].transform = {.exif_orientation = 6,
                              .stored_width = 3,
                              .stored_height = 5,
                              .scale_x = 0.1,
                              .scale_y = 1.25,
                              .offset_x = -0.75,
                              .offset_y = 2,
                              .network_width = 4,
                              .network_height = 2};
  export_npz(scene, folder_ / "scene.npz", {.generator = "pointmap 1.2.3"});
  const auto meta = nlohmann::json::parse(NpzFile::read(folder_ / "scene.npz").array("meta").text());
  EXPECT_EQ(meta["generator"], "pointmap 1.2.3");
  EXPECT_EQ(meta["model"], "tiny");
  EXPECT_EQ(meta["model_hash"], "abc");
  EXPECT_THAT(meta["convention"].get<std::string>(), HasSubstr("x right, y down, z forward"));
  ASSERT_EQ(meta["views"].size(), 2u);
  EXPECT_EQ(meta["views"][0]["source"], scene.views[0].source);
  EXPECT_EQ(meta["views"][0]["status"], "ok");
  EXPECT_EQ(meta["views"][0]["arrays"], (std::vector<std::string>{"pts3d_1", "conf_1", "image_1"}));
  const nlohmann::json want = {{"exif_orientation", 6}, {"stored_width", 3}, {"stored_height", 5}, {"scale_x", 0.1},     {"scale_y", 1.25},
                               {"offset_x", -0.75},     {"offset_y", 2.0},   {"network_width", 4}, {"network_height", 2}};
  EXPECT_EQ(meta["views"][1]["transform"], want);
}

TEST_F(ExportScene, RefusesDepthInNoFormat) {
  EXPECT_THROW(export_scene(counting_scene(), folder_, {.formats = {ExportFormat::kDepth}, .depth_formats = {}}), Error);
  EXPECT_FALSE(fs::exists(folder_));
}

}  // namespace
}  // namespace pointmap
