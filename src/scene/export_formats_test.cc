// What holds for every format in the table, whoever added it: the same bytes whenever and beside whatever it is written, and a cloud that
// is never empty without a word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "base/error.h"
#include "geometry/pinhole.h"
#include "geometry/rigid_transform.h"
#include "scene/export_scene.h"
#include "scene/exporters.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;

constexpr int kWidth = 32, kHeight = 24;

// A wavy wall, seen by a camera that turns and moves from view to view; with everything that a view can have.
SceneView view_number(int number) {
  SceneView view;
  view.source = "photo " + std::to_string(number) + ".jpg";
  view.image = {kWidth, kHeight, {}};
  view.transform = {.exif_orientation = number == 1 ? 6 : 1,
                    .stored_width = number == 1 ? 4 * kHeight : 4 * kWidth,
                    .stored_height = number == 1 ? 4 * kWidth : 4 * kHeight,
                    .scale_x = 4,
                    .scale_y = 4,
                    .offset_x = 0,
                    .offset_y = 0,
                    .network_width = kWidth,
                    .network_height = kHeight};
  const double angle = 0.1 * number;
  view.camera = {.world_from_cam = {.rotation = {std::cos(angle), 0, std::sin(angle), 0, 1, 0, -std::sin(angle), 0, std::cos(angle)},
                                    .translation = {0.2 * number, 0, 0}},
                 .network = {.fx = 30, .fy = 30, .cx = (kWidth - 1) / 2.0, .cy = (kHeight - 1) / 2.0},
                 .original = {.fx = 120, .fy = 120, .cx = (4 * kWidth - 1) / 2.0, .cy = (4 * kHeight - 1) / 2.0}};
  for (int v = 0; v < kHeight; ++v) {
    for (int u = 0; u < kWidth; ++u) {
      const double depth = 3 + 0.2 * std::sin(0.5 * u + number) + 0.1 * std::cos(0.4 * v);
      view.depth.push_back(static_cast<float>(depth));
      const Point3 in_cam = unproject(view.camera->network, {static_cast<double>(u), static_cast<double>(v)}, depth);
      for (const double x : transform_point(view.camera->world_from_cam, in_cam)) view.points.push_back(static_cast<float>(x));
      view.confidence.push_back(static_cast<float>(1.5 + (7 * u + 11 * v + number) % 50));
      view.image.rgb.insert(view.image.rgb.end(),
                            {static_cast<uint8_t>(8 * u), static_cast<uint8_t>(9 * v), static_cast<uint8_t>(90 * number)});
    }
  }
  view.mask.assign(view.confidence.size(), 1);
  view.mask[40] = 0;
  view.points[3 * 50] = std::nanf("");
  return view;
}

Scene three_views() {
  Scene scene;
  scene.model = "tiny";
  scene.model_hash = "abc";
  scene.views = {view_number(0), view_number(1), view_number(2)};
  return scene;
}

ExportOptions options_for(std::set<ExportFormat> formats) {
  return {.formats = std::move(formats),
          .filter = {.percentile = 20},
          .depth_formats = parse_depth_formats("all"),
          .ply_normals = true,
          .glb_mesh = true};
}

using Contents = std::map<std::string, std::string>;  // path below the folder to bytes

class ExportFormats : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }

  static Contents contents_of(const fs::path& folder) {
    Contents contents;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      contents[entry.path().lexically_relative(folder)] = std::string(std::istreambuf_iterator<char>(in), {});
    }
    return contents;
  }
  // Exports into a folder of its own and returns what is in it.
  Contents exported(const Scene& scene, const ExportOptions& options) {
    const fs::path folder = folder_ / std::to_string(num_exports_++);
    export_scene(scene, folder, options);
    return contents_of(folder);
  }
  // Names only where something differs: the bytes would fill the screen.
  static void expect_same(const Contents& got, const Contents& want) {
    for (const auto& [name, bytes] : want) {
      ASSERT_TRUE(got.contains(name)) << name;
      EXPECT_TRUE(got.at(name) == bytes) << name << " has other bytes";
    }
    EXPECT_EQ(got.size(), want.size());
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("pointmap_formats_" + std::to_string(::getpid()));
  int num_exports_ = 0;
};

// What a run writes follows from the scene and the options of that run alone, so the same files come whatever was written before.
TEST_F(ExportFormats, GiveTheSameBytesInAnyCompanyOrderAndTime) {
  const Scene scene = three_views();
  std::map<ExportFormat, Contents> alone;
  for (const Exporter& exporter : exporters()) {
    alone[exporter.format] = exported(scene, options_for({exporter.format}));
    EXPECT_FALSE(alone[exporter.format].empty()) << exporter.name;
  }
  // The one file that speaks of its company: transforms.json names scene.ply where the same run writes it.
  const std::string cameras = exported(scene, options_for(parse_formats("nerfstudio,ply"))).at("transforms.json");
  const auto want_of = [&](const std::set<ExportFormat>& run) {
    Contents want;
    for (const ExportFormat format : run) {
      for (const auto& [name, bytes] : alone[format]) EXPECT_TRUE(want.insert({name, bytes}).second) << name << " belongs to two formats";
    }
    if (want.contains("transforms.json") && run.contains(ExportFormat::kPly)) want["transforms.json"] = cameras;
    return want;
  };
  // A time stamp of whole seconds inside a file would show from here on (the zip format's two seconds have a test of their own).
  std::this_thread::sleep_for(std::chrono::milliseconds(1010));
  expect_same(exported(scene, options_for(parse_formats("all"))), want_of(parse_formats("all")));
  std::mt19937 random(7);
  for (int trial = 0; trial < 3; ++trial) {
    std::vector<ExportFormat> order;
    for (const Exporter& exporter : exporters()) order.push_back(exporter.format);
    std::ranges::shuffle(order, random);
    // Two runs into one folder: some formats, then the others.
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(1 + random() % (order.size() - 1));
    const fs::path folder = folder_ / ("mixed" + std::to_string(trial));
    Contents want;
    for (const std::set<ExportFormat>& run : {std::set(order.begin(), middle), std::set(middle, order.end())}) {
      export_scene(scene, folder, options_for(run));
      want.merge(want_of(run));
    }
    expect_same(contents_of(folder), want);
  }
}

TEST_F(ExportFormats, WriteOverWhatIsThere) {
  const Scene scene = three_views();
  const Contents first = exported(scene, options_for(parse_formats("all")));
  Scene other = scene;
  for (SceneView& view : other.views) view.depth.assign(view.depth.size(), 9);
  other.model = "another";
  const fs::path folder = folder_ / "twice";
  export_scene(other, folder, options_for(parse_formats("all")));
  export_scene(scene, folder, options_for(parse_formats("all")));
  expect_same(contents_of(folder), first);
}

TEST_F(ExportFormats, SayTruthfullyHowLargeTheirFilesAre) {
  const fs::path folder = folder_ / "sizes";
  for (const ExportedFile& file : export_scene(three_views(), folder, options_for(parse_formats("all")))) {
    EXPECT_EQ(file.bytes, fs::file_size(file.path)) << file.path;
    EXPECT_LE(file.num_kept, file.num_total) << file.path;
  }
}

TEST_F(ExportFormats, KeepAtLeastOnePointOfACloudAndSayOfHowMany) {
  const Scene scene = three_views();
  const size_t num_valid = num_valid_pixels(scene);
  for (const Exporter& exporter : exporters()) {
    if (!exporter.wants_cloud) continue;
    bool has_counts = false;
    for (const double percentile : {0.0, 50.0, 99.99, 100.0}) {
      const fs::path folder = folder_ / exporter.name;
      for (const ExportedFile& file : export_scene(scene, folder, {.formats = {exporter.format}, .filter = {.percentile = percentile}})) {
        if (file.num_total == 0) continue;
        has_counts = true;
        EXPECT_GE(file.num_kept, 1u) << file.path << " at " << percentile;
        EXPECT_EQ(file.num_total, num_valid) << file.path;
        EXPECT_NE(file.points, PointSource::kAuto) << file.path << ": it shows a cloud";
        // At 0 all but the one that is not finite in each view; the page leaves the threshold to its reader and always has them.
        const bool wants_all = percentile == 0 || exporter.format == ExportFormat::kHtml;
        EXPECT_EQ(file.num_kept == num_valid - scene.views.size(), wants_all) << file.path << " at " << percentile;
      }
    }
    EXPECT_TRUE(has_counts) << exporter.name << " says how many points it kept";
  }
}

TEST_F(ExportFormats, WithRoomForItSayInsideHowManyPointsWereKept) {
  const auto files = export_scene(three_views(), folder_, {.formats = parse_formats("ply,glb,colmap"), .filter = {.percentile = 50}});
  // Of 3 x 32 x 24 pixels one in each view is masked; about half of the others stay.
  const size_t num_kept = files[0].num_kept;
  EXPECT_NEAR(static_cast<double>(num_kept), 1150, 50);
  const Contents contents = contents_of(folder_);
  for (const char* name : {"scene.ply", "scene.glb", "colmap/README.txt", "colmap/sparse_text/0/images.txt"}) {
    EXPECT_NE(contents.at(name).find("kept " + std::to_string(num_kept) + " of 2301 pixels: finite, of confidence "), std::string::npos)
        << name;
  }
}

TEST_F(ExportFormats, RefuseACloudWithoutPoints) {
  Scene scene = three_views();
  for (SceneView& view : scene.views) view.confidence.assign(view.confidence.size(), std::nanf(""));
  for (const Exporter& exporter : exporters()) {
    if (!exporter.wants_cloud) continue;
    const fs::path folder = folder_ / exporter.name;
    EXPECT_THROW(export_scene(scene, folder, {.formats = {exporter.format}}), Error) << exporter.name;
    EXPECT_FALSE(fs::exists(folder)) << exporter.name;
  }
}

}  // namespace
}  // namespace pointmap
