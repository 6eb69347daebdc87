// Surfaces without holes, edges without threads, and a picture of it all.
#include <gtest/gtest.h>

#include <cmath>

#include "geometry/pinhole.h"
#include "io/image/resize.h"
#include "scene/export_picture.h"
#include "scene/scene_splats.h"

namespace pointmap {
namespace {

constexpr int kWidth = 64;
constexpr int kHeight = 48;
const Intrinsics kLens = {.fx = 60, .fy = 60, .cx = (kWidth - 1) / 2.0, .cy = (kHeight - 1) / 2.0};

// What a camera at the origin sees of a surface given as depth over pixels: red to the left, green to the right.
template <typename Depth>
Scene surface(const Depth& depth) {
  SceneView view;
  view.transform.stored_width = view.transform.network_width = view.image.width = kWidth;
  view.transform.stored_height = view.transform.network_height = view.image.height = kHeight;
  for (int v = 0; v < kHeight; ++v) {
    for (int u = 0; u < kWidth; ++u) {
      for (const double c : unproject(kLens, {static_cast<double>(u), static_cast<double>(v)}, depth(u, v))) {
        view.points.push_back(static_cast<float>(c));
      }
      view.confidence.push_back(2);
      view.image.rgb.insert(view.image.rgb.end(),
                            {static_cast<uint8_t>(u < kWidth / 2 ? 200 : 0), static_cast<uint8_t>(u < kWidth / 2 ? 0 : 200), 0});
    }
  }
  view.camera = Camera{.world_from_cam = {}, .network = kLens, .original = kLens};
  Scene scene;
  scene.views.push_back(std::move(view));
  return scene;
}

int count_background(const Image& image, int margin) {
  int count = 0;
  for (int y = margin; y < image.height - margin; ++y) {
    for (int x = margin; x < image.width - margin; ++x) count += image.pixel(x, y)[2] > 0 ? 1 : 0;
  }
  return count;
}

PointSplats all_splats(const Scene& scene) {
  return splats_of(scene, select_points(scene, {}));
}

TEST(SceneSplats, CloseSurfacesThatAreSeenEnlarged) {
  const auto flat = [](int, int) { return 2.0; };
  const auto floor = [](int, int v) { return 60 * 1.0 / (v + 12); };  // a plane one unit below the eye, steep to the rays: z = f y / v
  for (const Scene& scene : {surface(flat), surface(floor)}) {
    RenderCamera camera{.cam_from_world = {}, .intrinsics = kLens, .width = 5 * kWidth, .height = 5 * kHeight};
    camera.intrinsics = {.fx = 300, .fy = 300, .cx = (5 * kWidth - 1) / 2.0, .cy = (5 * kHeight - 1) / 2.0};
    const Image image = render_points(all_splats(scene), camera, {0, 0, 255});
    EXPECT_EQ(count_background(image, 5), 0);
  }
}

TEST(SceneSplats, LeaveOutWhatHangsBetweenNearAndFar) {
  // A near wall, a far one, and one column halfway, as networks smear edges.
  const Scene scene = surface([](int u, int) { return u < 30 ? 1.0 : u == 30 ? 3.0 : 5.0; });
  const PointSplats splats = all_splats(scene);
  EXPECT_EQ(splats.size(), static_cast<size_t>((kWidth - 1) * kHeight));
  for (size_t i = 2; i < splats.positions.size(); i += 3) EXPECT_NE(splats.positions[i], 3.0F);
  // Both walls keep their sizes: neighbours on the other side of the edge do not count.
  for (size_t i = 0; i < splats.size(); ++i) EXPECT_LE(std::abs(splats.tangents_u[3 * i]), 1.001F * 5 / 60) << i;
}

TEST(SceneSplats, TakeTheSelectedPointsOnly) {
  Scene scene = surface([](int, int) { return 2.0; });
  scene.views[0].confidence[100] = 1;
  scene.views[0].points[3 * 200] = std::nanf("");
  EXPECT_EQ(splats_of(scene, select_points(scene, {.percentile = 0.1})).size(), static_cast<size_t>(kWidth * kHeight - 2));
}

TEST(SceneSplats, LeaveOutPointsWithoutNeighboursAlongAColumn) {
  Scene scene = surface([](int, int) { return 2.0; });
  for (const int v : {9, 11}) scene.views[0].points[3 * static_cast<size_t>(v * kWidth + 20)] = std::nanf("");
  const PointSplats splats = all_splats(scene);
  EXPECT_EQ(splats.size(), static_cast<size_t>(kWidth * kHeight - 3)) << "row 10's point hangs between two that are none";
  for (const float x : splats.tangents_v) EXPECT_TRUE(std::isfinite(x));
}

TEST(ScenePicture, ShowsPhotoDepthAndCloudSideBySide) {
  const Scene scene = surface([](int u, int) { return u < kWidth / 2 ? 2.0 : 4.0; });
  const Image sheet = scene_picture(scene, select_points(scene, {}));
  EXPECT_EQ(sheet.width, 3 * 640 + 4 * 12);
  EXPECT_EQ(sheet.height, 480 + 2 * 12);
  const Image photo = resize_image(scene.views[0].image, 640, 480, ResizeFilter::kBicubic);
  for (const int x : {3, 320, 639}) {
    for (size_t c = 0; c < 3; ++c) EXPECT_EQ(sheet.pixel(12 + x, 12 + 100)[c], photo.pixel(x, 100)[c]);
  }
  const auto panel = [&](int index, int x, int y) { return sheet.pixel(12 + index * 652 + x, 12 + y); };
  EXPECT_GT(panel(1, 100, 240)[0], panel(1, 100, 240)[2]);  // near: warm
  EXPECT_LT(panel(1, 540, 240)[0], panel(1, 540, 240)[2]);  // far: blue
  // The cloud from the right and above: what it turns about stays in the middle, the near left wall moves to the left.
  EXPECT_GT(panel(2, 250, 240)[0], 150);
  EXPECT_EQ(scene_picture(scene, select_points(scene, {})).rgb, sheet.rgb);
}

TEST(ScenePicture, DepthThatIsMissingIsGrey) {
  Scene scene = surface([](int, int) { return 2.0; });
  scene.views[0].points[2] = -1;
  const Image image = depth_picture(scene.views[0]);
  EXPECT_EQ(image.pixel(0, 0)[0], 128);
  EXPECT_EQ(image.pixel(0, 0)[1], 128);
  EXPECT_NE(image.pixel(1, 0)[1], 128);  // all the same depth: the middle of the range
}

TEST(ScenePicture, PortraitsStayPortraits) {
  Scene scene = surface([](int, int) { return 2.0; });
  SceneView& view = scene.views[0];
  std::swap(view.image.width, view.image.height);
  std::swap(view.transform.network_width, view.transform.network_height);
  std::swap(view.transform.stored_width, view.transform.stored_height);
  const Image sheet = scene_picture(scene, select_points(scene, {}));
  EXPECT_EQ(sheet.width, 3 * 480 + 4 * 12);
  EXPECT_EQ(sheet.height, 640 + 2 * 12);
}

}  // namespace
}  // namespace pointmap
