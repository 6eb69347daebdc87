#include "scene/confidence_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "scene/point_cloud.h"
#include "scene/scene_testing.h"

namespace pointmap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ConfidenceFilter, KeepsEverythingByDefault) {
  const PointSelection selection = select_points(counting_scene(), {});
  EXPECT_EQ(selection.num_kept, 16u);
  EXPECT_EQ(selection.num_total, 16u);
  EXPECT_EQ(selection.min_confidence, 1);
}

TEST(ConfidenceFilter, ThePercentileIsOverAllViewsTogether) {
  // 16 confidences: 1..8 and 101..108. Half of them are the second view, whatever the first would have kept alone.
  const PointSelection half = select_points(counting_scene(), {.percentile = 50});
  EXPECT_EQ(half.num_kept, 8u);
  EXPECT_TRUE(half.pixels[0].empty());
  EXPECT_EQ(half.min_confidence, 101);
  const PointSelection quarter = select_points(counting_scene(), {.percentile = 25});
  EXPECT_THAT(quarter.pixels[0], ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(quarter.pixels[1].size(), 8u);
}

TEST(ConfidenceFilter, NeverEmptiesAScene) {
  EXPECT_THAT(select_points(counting_scene(), {.percentile = 100}).pixels[1], ElementsAre(7));
  Scene flat = counting_scene();
  for (SceneView& view : flat.views) view.confidence.assign(8, 3.0f);
  EXPECT_EQ(select_points(flat, {.percentile = 100}).num_kept, 16u) << "equal confidences cannot be told apart";
}

TEST(ConfidenceFilter, PaddingIsNoPoint) {
  Scene scene = counting_scene();
  pad_sides(scene.views[0]);
  const PointSelection selection = select_points(scene, {});
  EXPECT_THAT(selection.pixels[0], ElementsAre(1, 2, 5, 6));
  EXPECT_EQ(selection.num_invalid, 4u);
  EXPECT_EQ(selection.num_total, 12u);
  EXPECT_EQ(selection.num_kept, 12u);
}

TEST(ConfidenceFilter, LeavesOutWhatAMaskLeavesOut) {
  Scene scene = counting_scene();
  scene.views[0].mask = {1, 1, 0, 0, 1, 1, 1, 255};  // any number but 0 takes a pixel in
  pad_sides(scene.views[0]);                         // columns 0 and 3 of both rows
  const PointSelection selection = select_points(scene, {});
  EXPECT_THAT(selection.pixels[0], ElementsAre(1, 5, 6));
  EXPECT_EQ(selection.num_invalid, 5u);
  EXPECT_EQ(selection.num_total, 11u);
  EXPECT_EQ(num_valid_pixels(scene), 11u);
  scene.views[0].mask.pop_back();
  EXPECT_THROW(check_scene(scene), Error);
}

TEST(ConfidenceFilter, NonFiniteIsNoPoint) {
  Scene scene = counting_scene();
  scene.views[0].points[3 * 2 + 1] = std::nanf("");
  scene.views[0].points[3 * 3 + 2] = -INFINITY;
  scene.views[1].confidence[0] = std::nanf("");
  scene.views[1].confidence[7] = INFINITY;
  const PointSelection selection = select_points(scene, {});
  EXPECT_THAT(selection.pixels[0], ElementsAre(0, 1, 4, 5, 6, 7));
  EXPECT_THAT(selection.pixels[1], ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(selection.num_nonfinite, 4u);
  EXPECT_EQ(selection.num_total, 16u);
  EXPECT_EQ(select_points(scene, {.percentile = 100}).num_kept, 1u);
}

TEST(ConfidenceFilter, AViewThatFailedGivesNoPoints) {
  Scene scene = counting_scene();
  scene.views[0].status = "cannot be read";
  EXPECT_EQ(select_points(scene, {}).num_total, 8u);
  scene.views[0].points.clear();
  scene.views[0].confidence.clear();
  scene.views[0].image = {};
  EXPECT_EQ(select_points(scene, {}).num_kept, 8u);
}

TEST(ConfidenceFilter, RefusesNonsense) {
  for (const double percentile : {-1.0, 100.5, std::nan("")}) {
    EXPECT_THROW(select_points(counting_scene(), {.percentile = percentile}), Error) << percentile;
  }
  EXPECT_THROW(select_points(Scene{}, {}), Error);
  const auto broken = [](auto change) {
    Scene scene = counting_scene();
    change(scene.views[1]);
    return scene;
  };
  EXPECT_THROW(check_scene(broken([](SceneView& v) { v.points.pop_back(); })), Error);
  EXPECT_THROW(check_scene(broken([](SceneView& v) { v.confidence.pop_back(); })), Error);
  EXPECT_THROW(check_scene(broken([](SceneView& v) { v.image.rgb.pop_back(); })), Error);
  EXPECT_THROW(check_scene(broken([](SceneView& v) { v.raw.push_back(1); })), Error);
  EXPECT_THROW(check_scene(broken([](SceneView& v) { v.transform.network_width = 5; })), Error);
  EXPECT_THROW(check_scene(broken([](SceneView& v) { v.points.clear(); })), Error) << "status is ok, so there must be points";
  try {
    check_scene(broken([](SceneView& v) { v.points.pop_back(); }));
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("view 2 ('photo.jpg'): points has 23 elements, wanted 24"));
  }
}

TEST(PointCloud, HasTheKeptPointsOfAllViewsInOrder) {
  const Scene scene = counting_scene();
  PointSelection selection;
  selection.pixels = {{3, 5}, {0}};
  selection.num_kept = 3;
  const PointCloud cloud = gather_points(scene, selection);
  ASSERT_EQ(cloud.size(), 3u);
  EXPECT_THAT(cloud.positions, ElementsAre(3, -3, 4, 5, -5, 6, 0, 0, 1));
  EXPECT_THAT(cloud.colors, ElementsAre(3, 6, 9, 5, 10, 15, 0, 0, 0));
  EXPECT_THAT(cloud.confidence, ElementsAre(4, 6, 101));
}

TEST(PointCloud, SaysWhyThereIsNoPoint) {
  Scene scene = counting_scene();
  scene.views.pop_back();
  pad_sides(scene.views[0]);
  scene.views[0].confidence.assign(8, std::nanf(""));
  try {
    gather_points(scene, select_points(scene, {}));
    FAIL() << "made a cloud without points";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("of 4 valid pixels 4 are not finite, 4 more are padding or masked"));
  }
}

}  // namespace
}  // namespace pointmap
