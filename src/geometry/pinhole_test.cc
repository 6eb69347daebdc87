#include "geometry/pinhole.h"

#include <gtest/gtest.h>

namespace pointmap {
namespace {

constexpr Intrinsics kCamera = {.fx = 400, .fy = 500, .cx = 255.5, .cy = 191.5};

TEST(Pinhole, ProjectsAndComesBack) {
  const Pixel pixel = project(kCamera, {1, -2, 4});
  EXPECT_EQ(pixel.u, 355.5);
  EXPECT_EQ(pixel.v, -58.5);
  const Point3 point = unproject(kCamera, pixel, 4);
  EXPECT_EQ(point, (Point3{1, -2, 4}));
}

// The network's picture is a scaled crop; one of the photo's pixels must show the same point whichever camera is asked.
TEST(Pinhole, OriginalCameraShowsTheSamePointInThePhoto) {
  const ViewTransform view{.exif_orientation = 6,
                           .stored_width = 3000,
                           .stored_height = 4000,
                           .scale_x = 4000.0 / 512,
                           .scale_y = 3000.0 / 384,
                           .offset_x = 8,
                           .offset_y = -3.5,
                           .network_width = 512,
                           .network_height = 384};
  const Point3 point = {0.3, -0.2, 1.5};
  const Pixel expected = view.oriented_from_network(project(kCamera, point));
  const Pixel got = project(original_intrinsics(kCamera, view), point);
  EXPECT_NEAR(got.u, expected.u, 1e-12 * expected.u);
  EXPECT_NEAR(got.v, expected.v, 1e-12 * expected.v);
}

// Where a whole photo becomes the whole network image, the middle stays the middle.
TEST(Pinhole, CentreOfTheNetworkIsTheCentreOfThePhoto) {
  const ViewTransform view{.stored_width = 4000, .stored_height = 3000, .scale_x = 7.8125, .scale_y = 7.8125};
  const Pixel centre = image_centre(512, 384);
  const Intrinsics original = original_intrinsics({.fx = 1, .fy = 1, .cx = centre.u, .cy = centre.v}, view);
  EXPECT_EQ(original.cx, 1999.5);
  EXPECT_EQ(original.cy, 1499.5);
  // Upstream's is half a network pixel away.
  const Pixel upstream = upstream_principal_point(512, 384);
  EXPECT_EQ(upstream.u, 256);
  EXPECT_EQ(upstream.v, 192);
}

}  // namespace
}  // namespace pointmap
