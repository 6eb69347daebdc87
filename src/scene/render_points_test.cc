// Points where geometry says they are, of the size it says, the nearest in front.
#include "scene/render_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"

namespace pointmap {
namespace {

constexpr std::array<uint8_t, 3> kBlack = {0, 0, 0};

RenderCamera camera_of(int width, int height, double focal) {
  const Pixel centre = image_centre(width, height);
  return {.cam_from_world = {}, .intrinsics = {.fx = focal, .fy = focal, .cx = centre.u, .cy = centre.v}, .width = width, .height = height};
}

// Facing a camera that has not moved, with neighbours `spacing` away.
void add(PointSplats& splats, std::array<float, 3> position, float spacing, std::array<uint8_t, 3> color) {
  splats.positions.insert(splats.positions.end(), position.begin(), position.end());
  splats.tangents_u.insert(splats.tangents_u.end(), {spacing, 0, 0});
  splats.tangents_v.insert(splats.tangents_v.end(), {0, spacing, 0});
  splats.colors.insert(splats.colors.end(), color.begin(), color.end());
}

double covered_pixels(const Image& image) {
  double sum = 0;
  for (size_t i = 0; i < image.rgb.size(); i += 3) sum += image.rgb[i] / 255.0;
  return sum;
}

TEST(RenderPoints, APointWithoutSizeIsAPixelWhereItProjects) {
  PointSplats splats;
  add(splats, {0.6F, -0.4F, 2}, 0, {255, 10, 20});  // u = 4 + 10 * 0.3, v = 4 - 10 * 0.2
  const Image image = render_points(splats, camera_of(9, 9, 10), kBlack);
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 9; ++x) {
      const bool is_there = x == 7 && y == 2;
      EXPECT_EQ(image.pixel(x, y)[0], is_there ? 255 : 0) << x << ", " << y;
      EXPECT_EQ(image.pixel(x, y)[2], is_there ? 20 : 0) << x << ", " << y;
    }
  }
}

TEST(RenderPoints, TheCameraMoves) {
  PointSplats splats;
  add(splats, {0, 0, 2}, 0, {255, 255, 255});
  RenderCamera camera = camera_of(9, 9, 10);
  camera.cam_from_world.translation = {0.4, 0, 2};  // world moved right and away
  EXPECT_EQ(render_points(splats, camera, kBlack).pixel(5, 4)[0], 255);
}

TEST(RenderPoints, PointsReachHalfWayToTheirNeighbours) {
  PointSplats splats;
  add(splats, {0, 0, 2}, 0.5F, {255, 255, 255});
  const Image facing = render_points(splats, camera_of(201, 101, 80), kBlack);
  // The neighbours are 20 pixels away; 0.8 of that is covered, so that the corner between four points is. Of two by two samples a pixel,
  // the count in a circle is off by less than one in four of those on its edge.
  const double radius = 0.8 * 20;
  const double edge_pixels = 2 * std::numbers::pi * radius;
  EXPECT_NEAR(covered_pixels(facing), std::numbers::pi * radius * radius, edge_pixels / 4);
  splats.tangents_u = {0.25F, 0, 0.25F};  // steep: half as wide in the picture
  EXPECT_NEAR(covered_pixels(render_points(splats, camera_of(201, 101, 80), kBlack)), std::numbers::pi * radius * radius / 2,
              edge_pixels / 4);
}

TEST(RenderPoints, BacksAreNotSeen) {
  PointSplats splats;
  add(splats, {0, 0, 2}, 0.5F, {255, 255, 255});
  std::swap(splats.tangents_u, splats.tangents_v);
  EXPECT_EQ(covered_pixels(render_points(splats, camera_of(21, 21, 10), kBlack)), 0);
}

TEST(RenderPoints, TwoViewsOfOneSurfaceAreMixed) {
  PointSplats splats;
  add(splats, {0, 0, 2}, 0.5F, {100, 0, 0});
  add(splats, {0, 0, 2.01F}, 0.5F, {200, 0, 0});  // half a per cent deeper
  add(splats, {0, 0, 2.2F}, 0.5F, {0, 255, 0});   // another surface
  const Image image = render_points(splats, camera_of(101, 101, 100), kBlack);
  EXPECT_NEAR(image.pixel(50, 50)[0], 150, 1);
  EXPECT_EQ(image.pixel(50, 50)[1], 0);
}

TEST(RenderPoints, TheNearestIsInFrontInAnyOrder) {
  for (const bool near_first : {true, false}) {
    PointSplats splats;
    if (near_first) add(splats, {0, 0, 1}, 0.05F, {200, 0, 0});
    add(splats, {0, 0, 2}, 0.22F, {0, 200, 0});
    if (!near_first) add(splats, {0, 0, 1}, 0.05F, {200, 0, 0});
    const Image image = render_points(splats, camera_of(101, 101, 100), kBlack);
    EXPECT_EQ(image.pixel(50, 50)[0], 200);
    EXPECT_EQ(image.pixel(50, 50)[1], 0);
    EXPECT_EQ(image.pixel(57, 50)[1], 200);  // beside the near one, on the far one
  }
}

TEST(RenderPoints, LeavesOutWhatCannotBeSeen) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  PointSplats splats;
  for (const std::array<float, 3>& point :
       {std::array<float, 3>{0, 0, -1}, {0, 0, 0}, {nan, 0, 1}, {0, infinity, 1}, {0, 0, nan}, {1e9F, 0, 1}}) {
    add(splats, point, 1, {255, 255, 255});
  }
  add(splats, {0, 0, 1e-30F}, 1, {0, 0, 255});  // at the tip of the nose: drawn, but not over everything
  const Image image = render_points(splats, camera_of(51, 51, 40), kBlack);
  EXPECT_EQ(covered_pixels(image), 0);
  EXPECT_EQ(image.pixel(0, 0)[2], 0);
  EXPECT_EQ(image.pixel(25, 25)[2], 255);
}

TEST(RenderPoints, RefusesSizesThatDoNotFit) {
  PointSplats splats;
  add(splats, {0, 0, 1}, 1, {1, 2, 3});
  EXPECT_THROW((void)render_points(splats, camera_of(0, 5, 1), kBlack), Error);
  EXPECT_THROW((void)render_points(splats, camera_of(5, 100'000, 1), kBlack), Error);
  splats.colors.pop_back();
  EXPECT_THROW((void)render_points(splats, camera_of(5, 5, 1), kBlack), Error);
}

}  // namespace
}  // namespace pointmap
