// VGGT from photos to files, through the library and the program, with the small model of the golden data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "io/image/fixtures_testing.h"
#include "io/npz/npz_file.h"
#include "pointmap/export.h"
#include "pointmap/pointmap.h"
#include "program.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kModel = "synthetic:vggt-tiny";  // trained, so to say, on pictures of 70 x 70

void write_bytes(const fs::path& path, const fixtures::Bytes& bytes) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

class VggtEndToEnd : public testing::Test {
 protected:
  // The weights are made once for all tests.
  static void SetUpTestSuite() { reconstructor_ = std::make_unique<Reconstructor>(Reconstructor::open(kModel)); }
  static void TearDownTestSuite() { reconstructor_.reset(); }

  VggtEndToEnd() {
    // A landscape; a portrait whose file lies on its side; a landscape with transparency.
    write_test_photo(folder_.path() / "a.png", 140, 84, 0);
    fixtures::Bytes exif = fixtures::bytes_of(std::string_view("Exif\0\0", 6));
    const fixtures::Bytes turn = fixtures::exif_block(6, true);
    exif.insert(exif.end(), turn.begin(), turn.end());
    write_bytes(folder_.path() / "b.jpg", fixtures::make_jpeg(fixtures::quarters(120, 90), {.app1 = exif}));
    const Image rgb = fixtures::quarters(100, 60);
    fixtures::PngSpec png{.width = 100, .height = 60, .color_type = 6};
    for (size_t i = 0; i < rgb.rgb.size(); i += 3) {
      if (i % 300 == 0) png.rows.push_back(std::byte{0});  // no filter
      for (size_t c = 0; c < 3; ++c) png.rows.push_back(std::byte{rgb.rgb[i + c]});
      png.rows.push_back(std::byte{i < rgb.rgb.size() / 2 ? uint8_t{255} : uint8_t{0}});  // the lower half is transparent
    }
    write_bytes(folder_.path() / "c.png", fixtures::make_png(png));
  }

  std::vector<Photo> photos(const std::vector<std::string>& names) const {
    std::vector<Photo> list;
    for (const std::string& name : names) list.push_back({.name = folder_ / name, .bytes = {}});
    return list;
  }

  TemporaryFolder folder_;
  static std::unique_ptr<Reconstructor> reconstructor_;
};

std::unique_ptr<Reconstructor> VggtEndToEnd::reconstructor_;

TEST_F(VggtEndToEnd, PhotosOfAllSizesBecomeViewsOfOneSize) {
  const Reconstruction run = reconstructor_->reconstruct(photos({"a.png", "b.jpg", "c.png"}));
  ASSERT_EQ(run.scene.views.size(), 3u);
  EXPECT_EQ(run.scene.world, WorldFrame::kNetwork);
  // By hand: long side 70, the other to multiples of 14: 70 x 42, 56 x 70 (90 * 70 / 120 = 52.5 = 3.75 patches), 70 x 42; then all 70 x 70.
  const struct {
    double scale_x, scale_y, left, top, width, height;
  } want[] = {{2, 2, 0, 14, 140, 84}, {90.0 / 56, 120.0 / 70, 7, 0, 90, 120}, {100.0 / 70, 60.0 / 42, 0, 14, 100, 60}};
  for (size_t i = 0; i < 3; ++i) {
    const SceneView& view = run.scene.views[i];
    SCOPED_TRACE(view.source);
    EXPECT_EQ(view.status, "ok");
    EXPECT_EQ(view.image.width, 70);
    EXPECT_EQ(view.image.height, 70);
    EXPECT_EQ(view.points.size(), 70u * 70 * 3);
    for (const auto* map : {&view.depth, &view.depth_confidence, &view.confidence}) EXPECT_EQ(map->size(), 70u * 70);
    EXPECT_GT(*std::min_element(view.depth_confidence.begin(), view.depth_confidence.end()), 1.0f);
    ASSERT_TRUE(view.camera.has_value());
    const Intrinsics& network = view.camera->network;
    const Intrinsics& original = view.camera->original;
    EXPECT_EQ(network.cx, 35);
    EXPECT_EQ(network.cy, 35);
    const double fx = view.pose_encoding[8] > 0 ? 35 / std::tan(view.pose_encoding[8] / 2.0) : INFINITY;
    const double fy = view.pose_encoding[7] > 0 ? 35 / std::tan(view.pose_encoding[7] / 2.0) : INFINITY;
    EXPECT_DOUBLE_EQ(original.fx, fx * want[i].scale_x);
    EXPECT_DOUBLE_EQ(original.fy, fy * want[i].scale_y);
    EXPECT_NEAR(original.cx, (35.5 - want[i].left) * want[i].scale_x - 0.5, 1e-9);
    EXPECT_NEAR(original.cy, (35.5 - want[i].top) * want[i].scale_y - 0.5, 1e-9);
    EXPECT_EQ(view.transform.oriented_width(), want[i].width);
    EXPECT_EQ(view.transform.oriented_height(), want[i].height);
  }
  EXPECT_THAT(run.report.notes, Contains(HasSubstr("over white")));
  EXPECT_EQ(run.scene.views[2].image.pixel(35, 50)[1], 255) << "transparent";
  // Red is at the stored top left, so after a quarter turn at the top right.
  EXPECT_GT(run.scene.views[1].image.pixel(50, 10)[0], 200);
  EXPECT_LT(run.scene.views[1].image.pixel(50, 10)[1], 60);
}

TEST_F(VggtEndToEnd, TheArchiveHasUpstreamsNamesAndTheScenesValues) {
  const Reconstruction run = reconstructor_->reconstruct(photos({"a.png", "c.png"}));
  export_scene(run.scene, folder_ / "out", {.formats = {ExportFormat::kNpz}});
  const NpzFile file = NpzFile::read(folder_ / "out/scene.npz");
  EXPECT_THAT(file.names(), ElementsAre("depth", "depth_conf", "extrinsic", "images", "intrinsic", "meta", "original_intrinsic", "pose_enc",
                                        "world_points", "world_points_conf"));
  EXPECT_EQ(file.array("images").shape, (Shape{2, 3, 42, 70}));
  EXPECT_EQ(file.array("depth").shape, (Shape{2, 42, 70, 1}));
  EXPECT_EQ(file.array("world_points").shape, (Shape{2, 42, 70, 3}));
  EXPECT_EQ(file.array("pose_enc").shape, (Shape{2, 9}));
  EXPECT_EQ(file.array("extrinsic").shape, (Shape{2, 3, 4}));
  const size_t pixels = 42 * 70;
  const auto second_half = [&](const char* name) {
    const auto all = file.array(name).as<float>();
    return std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  };
  const SceneView& view = run.scene.views[1];
  EXPECT_EQ(second_half("depth"), view.depth);
  EXPECT_EQ(second_half("depth_conf"), view.depth_confidence);
  EXPECT_EQ(second_half("world_points"), view.points);
  EXPECT_EQ(second_half("world_points_conf"), view.confidence);
  EXPECT_EQ(second_half("images")[pixels + 5], static_cast<float>(view.image.rgb[3 * 5 + 1]) / 255.0f);
  // The extrinsic takes the camera's centre to the origin of its own frame.
  const std::vector<float> extrinsic = second_half("extrinsic");
  const auto& centre = view.camera->world_from_cam.translation;
  for (size_t row = 0; row < 3; ++row) {
    double sum = extrinsic[4 * row + 3];
    for (size_t c = 0; c < 3; ++c) sum += extrinsic[4 * row + c] * centre[c];
    EXPECT_NEAR(sum, 0, 4 * 0x1p-23 * 10) << "four products, of numbers below 10, of values rounded to float";
  }
  const auto meta = nlohmann::json::parse(file.array("meta").text());
  EXPECT_EQ(meta["views"][1]["index"], 1);
  EXPECT_THAT(meta["convention"].get<std::string>(), HasSubstr("as the network means it"));
}

TEST_F(VggtEndToEnd, OnePhotoIsEnough) {
  const Reconstruction run = reconstructor_->reconstruct(photos({"b.jpg"}), {.preset = "keep"});
  ASSERT_EQ(run.scene.views.size(), 1u);
  EXPECT_EQ(run.scene.views[0].image.width, 56);
  EXPECT_EQ(run.scene.views[0].image.height, 70);
  for (const char* stage : {"decode", "prepare", "load", "aggregator", "camera_head", "dense_heads"}) {
    EXPECT_TRUE(std::ranges::any_of(run.report.stages, [&](const StageTime& s) { return s.stage == stage; })) << stage;
  }
}

TEST_F(VggtEndToEnd, BadPhotosAreNamedOrSkipped) {
  std::ofstream(folder_.path() / "bad.png") << "no picture";
  const std::vector<Photo> list = photos({"bad.png", "a.png", "absent.png", "c.png"});
  try {
    reconstructor_->reconstruct(list);
    FAIL() << "took a bad photo";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::AnyOf(HasSubstr("bad.png"), HasSubstr("absent.png")));
  }
  const Reconstruction run = reconstructor_->reconstruct(list, {.skip_bad = true});
  ASSERT_EQ(run.scene.views.size(), 4u);
  std::vector<std::string> statuses;
  for (const SceneView& view : run.scene.views) statuses.push_back(view.status);
  EXPECT_THAT(statuses, ElementsAre("skipped", "ok", "skipped", "ok"));
  EXPECT_THAT(run.scene.views[0].reason, HasSubstr("bad.png"));
  EXPECT_THAT(run.report.notes, Contains(HasSubstr("absent.png")));
  // The others as if the bad ones had never been there.
  const Reconstruction good = reconstructor_->reconstruct(photos({"a.png", "c.png"}));
  EXPECT_EQ(run.scene.views[1].points, good.scene.views[0].points);
  EXPECT_EQ(run.scene.views[3].depth, good.scene.views[1].depth);
  export_scene(run.scene, folder_ / "out", {.formats = parse_formats("npz,ply,glb,depth")});
  const NpzFile file = NpzFile::read(folder_ / "out/scene.npz");
  EXPECT_EQ(file.array("depth").shape[0], 2);
  const auto meta = nlohmann::json::parse(file.array("meta").text());
  EXPECT_EQ(meta["views"][3]["index"], 1);
  EXPECT_EQ(meta["views"][0]["status"], "skipped");
  EXPECT_THAT(meta["convention"].get<std::string>(), HasSubstr("view 2"));
  EXPECT_THROW(reconstructor_->reconstruct(photos({"bad.png"}), {.skip_bad = true}), Error);
}

TEST_F(VggtEndToEnd, TheProgramTakesAFolderInNaturalOrder) {
  const fs::path frames = folder_.path() / "frames";
  fs::create_directories(frames);
  for (const int i : {1, 2, 9, 10, 11}) write_test_photo(frames / ("frame_" + std::to_string(i) + ".png"), 70, 42, i);
  std::ofstream(frames / "frame_3.png") << "no picture";
  std::ofstream(frames / "notes.txt") << "no photo";
  const std::string out = folder_ / "out";
  // In order 1, 2, 3, 9, 10, 11. The first is 9; of the others (1, 2, 3, 10, 11) three, evenly: 1, 3, 11.
  const ProgramResult result =
      run_program("reconstruct " + frames.string() + " -m " + kModel + " -o " + out +
                  " --first frame_9.png --max-views 4 --skip-bad --points head --formats npz,ply,glb,depth --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  std::vector<std::string> views;
  for (const auto& view : report.at("views")) {
    views.push_back(fs::path(view.at("source").get<std::string>()).filename().string() + " " + view.at("status").get<std::string>());
  }
  EXPECT_THAT(views, ElementsAre("frame_9.png ok", "frame_1.png ok", "frame_3.png skipped", "frame_11.png ok"));
  EXPECT_THAT(report.at("views")[2].at("reason").get<std::string>(), HasSubstr("frame_3.png"));
  for (const auto& file : report.at("files")) {
    const bool is_cloud = file.at("format") == "ply" || file.at("format") == "glb";
    EXPECT_EQ(file.value("points_from", ""), is_cloud ? "head" : "");
  }
  for (const char* name : {"depth_1.png", "depth_2.png", "depth_4.png", "scene.glb"}) EXPECT_TRUE(fs::exists(fs::path(out) / name)) << name;
  EXPECT_FALSE(fs::exists(fs::path(out) / "depth_3.png"));
  EXPECT_EQ(nlohmann::json::parse(read_file(fs::path(out) / "depth.json"))["files"][0]["frame"], "own camera");
  EXPECT_EQ(NpzFile::read(fs::path(out) / "scene.npz").array("depth").shape[0], 3);
  EXPECT_THAT(result.err, HasSubstr("aggregator"));
}

TEST_F(VggtEndToEnd, TheExampleForManyPhotosRuns) {
  const ProgramResult result =
      run_program(std::string(kModel) + " " + (folder_ / "many") + " '" + (folder_ / "?.png") + "'", POINTMAP_EXAMPLE_MANY);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 2);
  EXPECT_THAT(result.out, HasSubstr("c.png: at "));
  EXPECT_TRUE(fs::exists(folder_.path() / "many/scene.glb"));
}

TEST_F(VggtEndToEnd, RefusesWhatItHasNoAnswerTo) {
  const auto message_of = [&](const std::vector<Photo>& list, const ReconstructOptions& options) {
    try {
      reconstructor_->reconstruct(list, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message_of(photos({"a.png"}), {.keep_raw = true}), HasSubstr("raw"));
  EXPECT_THAT(message_of(photos({"a.png"}), {.preset = "pad512"}), HasSubstr("vggt_pad"));
  EXPECT_THAT(message_of({}, {}), HasSubstr("got 0"));
}

}  // namespace
}  // namespace pointmap
