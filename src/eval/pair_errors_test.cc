// The numbers, one by one, on maps small enough to work out by hand.
#include "eval/pair_errors.h"

#include <gtest/gtest.h>

#include <limits>

#include "eval/truth_testing.h"

namespace pointmap {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

// One row of points straight ahead at these depths.
PointGrid ahead(std::vector<float> depths) {
  PointGrid grid{.width = static_cast<int>(depths.size()), .height = 1, .points = {}};
  for (const float z : depths) grid.points.insert(grid.points.end(), {std::isnan(z) ? kNone : 0, std::isnan(z) ? kNone : 0, z});
  return grid;
}

TEST(PairErrors, Median) {
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
  EXPECT_TRUE(std::isnan(median_of({})));
}

TEST(PairErrors, ScaleIsTheMedianRatioOfBothViews) {
  const PairGrids truth = {ahead({2, 4, 6}), ahead({8, kNone, 10})};
  const PairGrids prediction = {ahead({1, 2, 1}), ahead({4, 3, kNone})};  // ratios 2, 2, 6 and 2; the last two have no partner
  EXPECT_EQ(scale_of(prediction, truth), 2);
  EXPECT_TRUE(std::isnan(scale_of({ahead({kNone}), ahead({0})}, {ahead({1}), ahead({1})})));
}

TEST(PairErrors, PointsByHand) {
  const PairGrids truth = {ahead({1, 1, 2, 4, kNone}), ahead({1, 5})};
  // Off by 2 %, 10 %, -50 % and missing; the pixel without truth does not count.
  const PairGrids prediction = {ahead({1.02F, 1.1F, 1, kNone, 7}), ahead({1, 4})};
  const EvalMetrics errors = point_errors(prediction, truth, 1);
  constexpr double kEps = 4 * std::numeric_limits<float>::epsilon();  // 1.02 and 1.1 are not exact in float
  EXPECT_NEAR(errors.abs_rel, (0.02 + 0.1 + 0.5 + 1) / 4, kEps);
  EXPECT_NEAR(errors.median_dz, (0.1 + 0.5) / 2, kEps);
  EXPECT_EQ(errors.within_103, 1.0 / 4);
  EXPECT_EQ(errors.within_125, 2.0 / 4);
  EXPECT_NEAR(errors.point_error_1, (0.02 + 0.1 + 0.5 + 1) / 4, kEps);
  EXPECT_NEAR(errors.point_error_2, 0.2 / 2, kEps);
  EXPECT_TRUE(std::isnan(errors.rotation_deg));
}

TEST(PairErrors, BehindTheCameraIsAsWrongAsDepthZero) {
  const EvalMetrics errors = point_errors({ahead({-3}), ahead({1})}, {ahead({1}), ahead({1})}, 1);
  EXPECT_EQ(errors.abs_rel, 1);
  EXPECT_EQ(errors.within_125, 0);
  EXPECT_EQ(errors.point_error_1, 4);
}

TEST(PairErrors, MapsOfDifferentSizesAreNotCompared) {
  const EvalMetrics errors = point_errors({ahead({1}), ahead({1, 2})}, {ahead({1}), ahead({1})}, 1);
  EXPECT_EQ(errors.point_error_1, 0);
  EXPECT_TRUE(std::isnan(errors.point_error_2));
}

TEST(PairErrors, CamerasByHand) {
  PairCameras truth{.cam1_from_cam2 = turned(20), .focal_px = {100, 200}};
  truth.cam1_from_cam2.translation = {2, 0, 0};
  PairCameras prediction{.cam1_from_cam2 = turned(27), .focal_px = {110, 160}};
  prediction.cam1_from_cam2.translation = {1, 1, 0};
  EvalMetrics errors;
  add_camera_errors(errors, prediction, truth);
  EXPECT_NEAR(errors.rotation_deg, 7, 1e-9);
  EXPECT_NEAR(errors.translation_deg, 45, 1e-9);
  EXPECT_NEAR(errors.focal_error, (0.1 + 0.2) / 2, 1e-12);
  prediction.cam1_from_cam2.translation = {0, 0, 0};
  add_camera_errors(errors, prediction, truth);
  EXPECT_EQ(errors.translation_deg, 90);
}

TEST(PairErrors, SummariesLeaveOutWhatIsUndefined) {
  std::vector<EvalScene> scenes(4);
  scenes[0].errors.model.abs_rel = 1;
  scenes[1].errors.model.abs_rel = 2;
  scenes[2].errors.model.abs_rel = 9;
  EXPECT_EQ(median_rows(scenes).model.abs_rel, 2);
  EXPECT_EQ(mean_rows(scenes).model.abs_rel, 4);
  EXPECT_TRUE(std::isnan(median_rows(scenes).same_view.abs_rel));
}

}  // namespace
}  // namespace pointmap
