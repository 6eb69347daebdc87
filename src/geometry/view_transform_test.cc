// The expectations are written out by hand from the EXIF table, not computed by the code under test.
#include "geometry/view_transform.h"

#include <gtest/gtest.h>

namespace pointmap {
namespace {

// A stored picture of 4 x 3 pixels, network = oriented. Where does the oriented pixel (0, 0) lie in the file, and where (1, 0)?
struct OrientationRow {
  int orientation = 1;
  Pixel stored_of_origin;
  Pixel stored_of_right_neighbour;
};

constexpr OrientationRow kOrientations[] = {
    {1, {0, 0}, {1, 0}}, {2, {3, 0}, {2, 0}}, {3, {3, 2}, {2, 2}}, {4, {0, 2}, {1, 2}},
    {5, {0, 0}, {0, 1}}, {6, {0, 2}, {0, 1}}, {7, {3, 2}, {3, 1}}, {8, {3, 0}, {3, 1}},
};

ViewTransform unscaled(int orientation) {
  ViewTransform view{.exif_orientation = orientation, .stored_width = 4, .stored_height = 3};
  view.network_width = view.oriented_width();
  view.network_height = view.oriented_height();
  return view;
}

TEST(ViewTransform, EightOrientationsLeadToTheRightStoredPixel) {
  for (const OrientationRow& row : kOrientations) {
    SCOPED_TRACE(row.orientation);
    const ViewTransform view = unscaled(row.orientation);
    EXPECT_EQ(view.oriented_width(), row.orientation < 5 ? 4 : 3);
    const Pixel origin = view.stored_from_network({0, 0});
    const Pixel right = view.stored_from_network({1, 0});
    EXPECT_EQ(origin.u, row.stored_of_origin.u);
    EXPECT_EQ(origin.v, row.stored_of_origin.v);
    EXPECT_EQ(right.u, row.stored_of_right_neighbour.u);
    EXPECT_EQ(right.v, row.stored_of_right_neighbour.v);
  }
}

TEST(ViewTransform, BackAndForthIsTheIdentity) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    ViewTransform view = unscaled(orientation);
    view.scale_x = 2.5;  // powers of two and small sums: the arithmetic below is exact
    view.scale_y = 0.5;
    view.offset_x = -3;
    view.offset_y = 1.25;
    const Pixel network{2, 5};
    const Pixel back = view.network_from_stored(view.stored_from_network(network));
    EXPECT_DOUBLE_EQ(back.u, network.u);
    EXPECT_DOUBLE_EQ(back.v, network.v);
  }
}

TEST(ViewTransform, ScaleAndCropKeepPixelEdgesNotCentres) {
  // Halved, then 8 network pixels cropped on the left: network pixel 0 covers oriented pixels 16 and 17, centre 16.5.
  const ViewTransform view{.stored_width = 100, .stored_height = 50, .scale_x = 2, .scale_y = 2, .offset_x = 16};
  EXPECT_EQ(view.oriented_from_network({0, 0}).u, 16.5);
  EXPECT_EQ(view.oriented_from_network({0, 0}).v, 0.5);
  EXPECT_EQ(view.network_from_oriented({16.5, 0.5}).u, 0);
}

TEST(ViewTransform, PaddingShowsNoPhoto) {
  // 4 x 2 photo in a 4 x 4 square, one row above.
  const ViewTransform view{.stored_width = 4, .stored_height = 2, .offset_y = -1, .network_width = 4, .network_height = 4};
  EXPECT_FALSE(view.shows_photo({0, 0}));
  EXPECT_TRUE(view.shows_photo({0, 1}));
  EXPECT_TRUE(view.shows_photo({3, 2}));
  EXPECT_FALSE(view.shows_photo({3, 3}));
  EXPECT_FALSE(view.shows_photo({4, 1}));
}

}  // namespace
}  // namespace pointmap
