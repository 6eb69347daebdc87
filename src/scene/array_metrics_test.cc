// The numbers of the gate against values worked out by hand.
#include "scene/array_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace pointmap {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
using Values = std::vector<double>;

TEST(ArrayMetrics, MatchesHandComputedValues) {
  const ArrayMetrics m = measure(Values{1, 2, 3, 4}, Values{1, 2, 3, 6});
  EXPECT_EQ(m.count, 4u);
  EXPECT_EQ(m.count_finite, 4u);
  EXPECT_EQ(m.num_different, 1u);
  EXPECT_EQ(m.max_abs_diff, 2);
  EXPECT_EQ(m.rms_diff, 1);                                 // sqrt(2^2 / 4)
  EXPECT_DOUBLE_EQ(m.relative_error, 2 / std::sqrt(50.0));  // |b|^2 = 1 + 4 + 9 + 36
  EXPECT_DOUBLE_EQ(m.pcc, 8 / std::sqrt(5.0 * 14.0));       // around the means 2.5 and 3
  EXPECT_TRUE(std::isnan(m.median_abs_dz_over_z));
}

TEST(ArrayMetrics, CorrelationSurvivesALargeMean) {
  // The same deviations on top of 1e9, where sum(a * b) - n * mean * mean would lose every digit.
  const ArrayMetrics m = measure(Values{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4}, Values{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 6});
  EXPECT_DOUBLE_EQ(m.pcc, 8 / std::sqrt(5.0 * 14.0));
}

TEST(ArrayMetrics, OppositesAndEquals) {
  EXPECT_DOUBLE_EQ(measure(Values{1, 2, 3}, Values{3, 2, 1}).pcc, -1);
  const ArrayMetrics equal = measure(Values{5, 5}, Values{5, 5});
  EXPECT_EQ(equal.pcc, 1);
  EXPECT_EQ(equal.relative_error, 0);
  EXPECT_EQ(equal.num_different, 0u);
  EXPECT_TRUE(std::isnan(measure(Values{5, 5}, Values{5, 6}).pcc)) << "a constant array has no correlation";
  EXPECT_EQ(measure(Values{1, 0}, Values{0, 0}).relative_error, kInf);
  EXPECT_EQ(measure(Values{0, 0}, Values{0, 0}).relative_error, 0);
}

TEST(ArrayMetrics, DepthIsTheMedianOverPointsWithDepth) {
  // Ratios 0.25, 0 and 0.1; the point at depth zero has none, and the x coordinate does not count.
  const ArrayMetrics odd = measure(Values{2.5, 4, -5.5, 1, 9}, Values{2, 4, -5, 0, 1}, {true, true, true, true, false});
  EXPECT_DOUBLE_EQ(odd.median_abs_dz_over_z, 0.1);
  EXPECT_DOUBLE_EQ(measure(Values{2.5, 4}, Values{2, 4}, {true, true}).median_abs_dz_over_z, 0.125);
}

TEST(ArrayMetrics, NonFiniteValuesAreCountedAndLeftOut) {
  const ArrayMetrics m = measure(Values{1, kNan, kInf, kInf, kNan, 7}, Values{1, kNan, kInf, -kInf, 3, 8});
  EXPECT_EQ(m.count, 6u);
  EXPECT_EQ(m.count_finite, 2u);
  EXPECT_EQ(m.num_nonfinite_a, 4u);
  EXPECT_EQ(m.num_nonfinite_b, 3u);
  EXPECT_EQ(m.num_nonfinite_mismatch, 2u);  // inf and -inf, NaN and 3
  EXPECT_EQ(m.num_different, 3u);           // those and 7, 8
  EXPECT_EQ(m.max_abs_diff, 1);
  const ArrayMetrics none = measure(Values{kNan}, Values{kNan});
  EXPECT_EQ(none.count_finite, 0u);
  EXPECT_EQ(none.num_different, 0u);
  EXPECT_TRUE(std::isnan(none.rms_diff));
}

TEST(ArrayMetrics, RefusesSizesThatDiffer) {
  EXPECT_THROW(measure(Values{1}, Values{1, 2}), Error);
}

TEST(DoublesOf, WidensHalfAndIntegers) {
  NpzArray array;
  array.name = "a";
  array.shape = Shape{2};
  array.dtype = DType::kF16;
  array.bytes = {std::byte{0x00}, std::byte{0xC0}, std::byte{0x00}, std::byte{0x7C}};  // -2, infinity
  EXPECT_EQ(doubles_of(array), (Values{-2, kInf}));
  array.dtype = DType::kI16;
  EXPECT_EQ(doubles_of(array), (Values{-16384, 0x7C00}));
}

}  // namespace
}  // namespace pointmap
