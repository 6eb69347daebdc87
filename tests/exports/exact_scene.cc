#include "exact_scene.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "geometry/pinhole.h"

namespace pointmap {

namespace {

namespace fs = std::filesystem;
constexpr int kWidth = 8;
constexpr int kHeight = 6;

SceneView exact_view(const std::string& source, const RigidTransform& world_from_cam) {
  SceneView view;
  view.source = source;
  view.transform = {.exif_orientation = 1,
                    .stored_width = 2 * kWidth,
                    .stored_height = 2 * kHeight,
                    .scale_x = 2,
                    .scale_y = 2,
                    .offset_x = 0,
                    .offset_y = 0,
                    .network_width = kWidth,
                    .network_height = kHeight};
  view.image.width = kWidth;
  view.image.height = kHeight;
  const Intrinsics network = {.fx = 8, .fy = 16, .cx = 3.5, .cy = 2.25};
  view.camera = {.world_from_cam = world_from_cam, .network = network, .original = original_intrinsics(network, view.transform)};
  for (int v = 0; v < kHeight; ++v) {
    for (int u = 0; u < kWidth; ++u) {
      const int index = v * kWidth + u;
      const double depth = index % 3 == 0 ? 4 : 2;
      const Point3 in_cam = unproject(network, {static_cast<double>(u), static_cast<double>(v)}, depth);
      for (const double x : transform_point(world_from_cam, in_cam)) view.points.push_back(static_cast<float>(x));
      view.depth.push_back(static_cast<float>(depth));
      view.confidence.push_back(static_cast<float>(1 + index));
      view.image.rgb.insert(view.image.rgb.end(), {static_cast<uint8_t>(index), static_cast<uint8_t>(2 * index), 200});
    }
  }
  return view;
}

}  // namespace

Scene exact_scene() {
  Scene scene;
  scene.model = "exact";
  scene.views = {exact_view("photos/left.png", {}),
                 exact_view("photos/right.png", {.rotation = {0, 0, 1, 0, 1, 0, -1, 0, 0}, .translation = {1, 2, 3}})};
  return scene;
}

void store_with_orientation(SceneView& view, int exif_orientation) {
  view.transform.exif_orientation = exif_orientation;
  view.transform.stored_width = exif_orientation >= 5 ? 2 * kHeight : 2 * kWidth;
  view.transform.stored_height = exif_orientation >= 5 ? 2 * kWidth : 2 * kHeight;
}

TemporaryFolder::TemporaryFolder(const std::string& name)
    : path_(fs::path(testing::TempDir()) / ("pointmap_" + name + "_" + std::to_string(::getpid()))) {
  fs::remove_all(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace pointmap
