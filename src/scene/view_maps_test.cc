// What a pixel's depth and confidence are, and what sixteen bits make of them.
#include "scene/view_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "scene/scene_testing.h"

namespace pointmap {
namespace {

using testing::ElementsAre;

TEST(DepthMap, SpreadsZOverSixteenBits) {
  const ViewMap map = depth_map(counting_view(4, 2, 1));  // z = 1..8
  EXPECT_EQ(quantized(map).scale, 8.0 / 65535);
  // 65535 / 8 = 8191.875 per unit of z, rounded to the nearest step.
  EXPECT_THAT(quantized(map).values, ElementsAre(8192, 16384, 24576, 32768, 40959, 49151, 57343, 65535));
  EXPECT_EQ(map.num_valid, 8u);
  EXPECT_EQ(map.num_total, 8u);
}

TEST(DepthMap, ZeroIsWhereThereIsNoDepth) {
  SceneView view = counting_view(4, 2, 1);
  pad_sides(view);                      // pixels 0, 3, 4, 7
  view.points[3 * 1 + 2] = -1;          // behind the camera
  view.points[3 * 2] = std::nanf("");   // no point
  view.points[3 * 5 + 2] = 1e-30f;      // nearer than a step, still a depth
  const ViewMap map = depth_map(view);  // leaves pixels 5 and 6
  EXPECT_THAT(map.values, ElementsAre(0, 0, 0, 0, 0, 1e-30f, 7, 0));
  EXPECT_THAT(quantized(map).values, ElementsAre(0, 0, 0, 0, 0, 1, 65535, 0));
  EXPECT_EQ(quantized(map).scale, 7.0 / 65535);
  EXPECT_EQ(map.num_valid, 2u);
  EXPECT_EQ(map.num_total, 4u);
}

TEST(DepthMap, WithoutAnyDepthIsAllZero) {
  SceneView view = counting_view(2, 1, std::nanf(""));
  const ViewMap map = depth_map(view);
  EXPECT_THAT(map.values, ElementsAre(0, 0));
  EXPECT_EQ(map.num_valid, 0u);
  EXPECT_EQ(quantized(map).scale, 1);
}

TEST(DepthMap, IsTheViewsOwnWhereThereIsOne) {
  SceneView view = counting_view(2, 1, 1);
  view.depth = {1, 4};
  view.points.assign(6, std::nanf(""));
  EXPECT_THAT(depth_map(view).values, ElementsAre(1, 4));
  EXPECT_THAT(quantized(depth_map(view)).values, ElementsAre(16384, 65535));
  EXPECT_EQ(quantized(depth_map(view)).scale, 4.0 / 65535);
}

TEST(ConfidenceMap, IsTheDepthsWhereItHasItsOwn) {
  SceneView view = counting_view(2, 1, 1);
  EXPECT_THAT(confidence_map(view).values, ElementsAre(1, 2));
  view.depth_confidence = {30, 40};
  EXPECT_THAT(confidence_map(view).values, ElementsAre(30, 40));
}

TEST(ConfidenceMap, IsZeroInPaddingOutsideTheMaskAndWithoutANumber) {
  SceneView view = counting_view(4, 2, 1);
  pad_sides(view);  // pixels 0, 3, 4, 7
  view.mask.assign(8, 1);
  view.mask[1] = 0;
  view.confidence[2] = INFINITY;
  view.points[3 * 5] = std::nanf("");  // confidence stands by itself
  const ViewMap map = confidence_map(view);
  EXPECT_THAT(map.values, ElementsAre(0, 0, 0, 0, 0, 6, 7, 0));
  EXPECT_EQ(map.num_valid, 2u);
  EXPECT_EQ(map.num_total, 3u);
}

}  // namespace
}  // namespace pointmap
