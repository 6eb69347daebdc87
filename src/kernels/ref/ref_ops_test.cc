// The reference against check values of the specification and values worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/ref/ref_test_util.h"

namespace pointmap {
namespace {

using testing::ElementsAre;
using testing::FloatEq;

constexpr float kPrinted = 1.2e-7f;  // specification values have 7 decimals of a float32 result: half a unit, and one float step

// cos and sin for tokens at (row, column) = positions, head size D, base 100, computed in double.
RopeTable rope_table(RefBench& b, const std::vector<std::pair<int, int>>& positions, int64_t head_dim) {
  const auto num_tokens = static_cast<int64_t>(positions.size());
  RopeTable table{Tensor(b.activations, DType::kF32, {num_tokens, head_dim / 2}),
                  Tensor(b.activations, DType::kF32, {num_tokens, head_dim / 2})};
  for (int64_t token = 0; token < num_tokens; ++token) {
    for (int64_t j = 0; j < head_dim / 2; ++j) {
      const int64_t quarter = head_dim / 4, k = j % quarter;
      const int position = j < quarter ? positions[static_cast<size_t>(token)].first : positions[static_cast<size_t>(token)].second;
      const double angle = position * std::pow(100.0, -static_cast<double>(k) / static_cast<double>(quarter));
      table.cos.data<float>()[token * head_dim / 2 + j] = static_cast<float>(std::cos(angle));
      table.sin.data<float>()[token * head_dim / 2 + j] = static_cast<float>(std::sin(angle));
    }
  }
  return table;
}

TEST(RefRope2d, HasTheValuesOfTheSpecification) {
  RefBench b;
  std::vector<float> head(64);
  for (size_t k = 0; k < 64; ++k) head[k] = static_cast<float>(k) / 64;
  Tensor x = b.tensor({1, 1, 64}, head);
  b.ops.rope2d(x, rope_table(b, {{3, 5}}, 64), 0, 1);
  const std::vector<std::pair<size_t, float>> wanted = {{0, -0.0352800f},  {1, -0.2165400f},  {15, 0.2148149f},  {16, -0.2474981f},
                                                        {17, -0.1546325f}, {31, 0.4933613f},  {32, 0.8610243f},  {33, 0.0140124f},
                                                        {47, 0.6671575f},  {48, -0.2667155f}, {49, -0.9229596f}, {63, 1.0311166f}};
  for (const auto& [channel, value] : wanted) EXPECT_NEAR(x.data<float>()[channel], value, kPrinted) << "channel " << channel;
}

TEST(RefRope2d, TouchesOnlyItsChannelsAndUsesTheTokensPosition) {
  RefBench b;
  // Two images of two tokens, [skip | head 0 | head 1 | skip] with D = 4: pairs are neighbours.
  const std::vector<float> row = {7, 1, 0, 1, 0, 0, 1, 0, 1, 7};
  std::vector<float> values;
  for (int i = 0; i < 4; ++i) values.insert(values.end(), row.begin(), row.end());
  Tensor x = b.tensor({2, 2, 10}, values);
  RopeTable table{b.tensor({2, 2}, {1, 1, 0.6f, 0}), b.tensor({2, 2}, {0, 0, 0.8f, 1})};
  b.ops.rope2d(x, table, 1, 2);
  std::vector<float> wanted;
  const std::vector<float> turned = {7, 0.6f, 0.8f, 0, 1, -0.8f, 0.6f, -1, 0, 7};
  for (int image = 0; image < 2; ++image) {
    wanted.insert(wanted.end(), row.begin(), row.end());
    wanted.insert(wanted.end(), turned.begin(), turned.end());
  }
  EXPECT_EQ(values_of(x), wanted);
}

TEST(RefLayerNorm, NormalisesRowsWithBiasedVariance) {
  RefBench b;
  // Mean 3, variance (4 + 0 + 4 + 0) / 4 = 2 in row 0; eps 2 makes the divisor 2 exactly.
  const Tensor x = b.tensor({1, 4}, {1, 3, 5, 3});
  const Tensor y = b.ops.layer_norm(x, b.tensor({4}, {1, 1, 10, 1}), b.tensor({4}, {0, 0.5f, 1, 0}), 2.0f);
  EXPECT_THAT(values_of(y), ElementsAre(-1, 0.5f, 11, 0));
  // A constant row has no variance: beta remains.
  const Tensor flat = b.ops.layer_norm(b.tensor({1, 2}, {4, 4}), b.tensor({2}, {3, 3}), b.tensor({2}, {5, 6}), 1e-6f);
  EXPECT_THAT(values_of(flat), ElementsAre(5, 6));
}

TEST(RefUpsample, AlignCornersHasTheMatrixOfTheSpecification) {
  RefBench b;
  const Tensor y = b.ops.upsample_bilinear(b.tensor({1, 2, 3, 1}, {0, 1, 3, 2, 5, 7}), 4, 6, UpsampleMode::kAlignCorners);
  const std::vector<float> wanted = {0,          0.4f,       0.8f, 1.4f,       2.2f,       3,           //
                                     0.6666667f, 1.3333334f, 2,    2.7333333f, 3.5333333f, 4.3333333f,  //
                                     1.3333334f, 2.2666669f, 3.2f, 4.0666666f, 4.8666668f, 5.6666670f,  //
                                     2,          3.2f,       4.4f, 5.4f,       6.2f,       7};
  // The specification prints a float32 result: a step of a float at the largest value, 7, on either side.
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values_of(y)[i], wanted[i], 7 * 2 * 1.2e-7f / 2) << i;
}

TEST(RefUpsample, HalfPixelClampsAtTheBorder) {
  RefBench b;
  // Sources of x2: -1/4 (clamped to 0), 1/4, 3/4, 5/4 (second neighbour clamped).
  const Tensor y = b.ops.upsample_bilinear(b.tensor({1, 1, 2, 2}, {0, 10, 4, 20}), 1, 4, UpsampleMode::kHalfPixel);
  EXPECT_THAT(values_of(y), ElementsAre(0, 10, 1, 12.5f, 3, 17.5f, 4, 20));
}

TEST(RefUpsample, OnePixelBecomesAConstant) {
  RefBench b;
  for (const UpsampleMode mode : {UpsampleMode::kAlignCorners, UpsampleMode::kHalfPixel}) {
    EXPECT_THAT(values_of(b.ops.upsample_bilinear(b.tensor({1, 1, 1, 1}, {3}), 2, 2, mode)), ElementsAre(3, 3, 3, 3));
  }
}

TEST(RefCopies, CropKeepsTheTopLeft) {
  RefBench b;
  std::vector<float> values(2 * 3 * 3);
  std::iota(values.begin(), values.end(), 0.0f);
  EXPECT_THAT(values_of(b.ops.crop(b.tensor({2, 3, 3, 1}, values), 2, 2)), ElementsAre(0, 1, 3, 4, 9, 10, 12, 13));
}

TEST(RefCopies, PixelShuffleUnfoldsFeatures) {
  RefBench b;
  // 1 x 2 pixels of 2 channels x 2 x 2: feature c 4 + i 2 + j goes to channel c at (i, x 2 + j).
  std::vector<float> values(16);
  std::iota(values.begin(), values.end(), 0.0f);
  const Tensor y = b.ops.pixel_shuffle(b.tensor({1, 1, 2, 8}, values), 2);
  EXPECT_EQ(y.shape(), (Shape{1, 2, 4, 2}));
  EXPECT_THAT(values_of(y), ElementsAre(0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15));
}

TEST(RefCopies, AddAndConcatenate) {
  RefBench b;
  const Tensor one = b.tensor({1, 2}, {1, 2}), two = b.tensor({2, 2}, {3, 4, 5, 6});
  EXPECT_THAT(values_of(b.ops.add(one, one)), ElementsAre(2, 4));
  EXPECT_THAT(values_of(b.ops.concat_first({one, two})), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(RefLayerNorm, NormalisesHeadsOfTheirOwn) {
  RefBench b;
  // Heads of two, between one channel that stays and one that does not belong to them: mean and spread are each head's own.
  Tensor x = b.tensor({1, 1, 6}, {7, 1, 3, 10, 30, 7});
  const Tensor gamma = b.tensor({2}, {1, 10}), beta = b.tensor({2}, {0, 1});
  b.ops.layer_norm_heads(x, {.gamma = gamma, .beta = beta, .eps = 0}, 1, 2);
  EXPECT_THAT(values_of(x), ElementsAre(7, -1, 11, -1, 11, 7));
}

TEST(RefElementwise, MultiplyAddTakesRowsOrWholeTensors) {
  RefBench b;
  const Tensor a = b.tensor({2, 2}, {1, 2, 3, 4}), row = b.tensor({2}, {10, 100});
  EXPECT_THAT(values_of(b.ops.multiply_add(a, row, a)), ElementsAre(11, 202, 33, 404));
  EXPECT_THAT(values_of(b.ops.multiply_add(a, a, row)), ElementsAre(11, 104, 19, 116));
  EXPECT_THROW(b.ops.multiply_add(a, row, b.tensor({3}, {1, 2, 3})), Error);
}

TEST(RefElementwise, AtLeastHoldsEveryChannelUp) {
  RefBench b;
  const Tensor floor = b.tensor({2}, {-std::numeric_limits<float>::infinity(), 0});
  EXPECT_THAT(values_of(b.ops.at_least(b.tensor({2, 2}, {-1, -2, 3, 4}), floor)), ElementsAre(-1, 0, 3, 4));
}

TEST(RefElementwise, ColumnsThenRowsAreAddedToTheirHalves) {
  RefBench b;
  Tensor x = b.tensor({1, 2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 0});
  b.ops.add_columns_and_rows(x, b.tensor({2, 1}, {1, 2}), b.tensor({2, 1}, {10, 20}));
  EXPECT_THAT(values_of(x), ElementsAre(1, 10, 2, 10, 1, 20, 2, 20));
}

TEST(RefCopies, ConcatLastPutsRowsSideBySide) {
  RefBench b;
  const Tensor a = b.tensor({2, 1}, {1, 2}), c = b.tensor({2, 2}, {3, 4, 5, 6});
  EXPECT_THAT(values_of(b.ops.concat_last(a, c)), ElementsAre(1, 3, 4, 2, 5, 6));
}

TEST(RefActivateMaps, InvLogAndExpHaveTheValuesOfTheSpecification) {
  RefBench b;
  const Pointmap map = b.ops.activate_pointmap_inv_log(b.tensor({1, 1, 1, 4}, {std::log(3.0f), -std::log(3.0f), 0, 0}));
  EXPECT_THAT(values_of(map.points), ElementsAre(FloatEq(2), FloatEq(-2), 0));
  EXPECT_THAT(values_of(map.confidence), ElementsAre(2));
  const Depthmap depth = b.ops.activate_depth_exp(b.tensor({1, 1, 1, 2}, {std::log(0.25f), std::log(4.0f)}));
  EXPECT_THAT(values_of(depth.depth), ElementsAre(FloatEq(0.25f)));
  EXPECT_THAT(values_of(depth.confidence), ElementsAre(FloatEq(5)));
}

TEST(RefActivatePointmap, HasTheValuesOfTheSpecification) {
  RefBench b;
  const Tensor raw = b.tensor({1, 1, 4, 4}, {0.3f, -0.4f, 1.2f, -1, 3, 4, 12, 0, 1e-9f, 0, 0, 2.5f, 0, 0, 0, 0});
  const Pointmap out = b.ops.activate_pointmap_exp(raw);
  // Printed from float32 arithmetic; expm1(13) there is off by 13 ulp of its argument at most.
  const std::vector<float> points = {0.6159916f, -0.8213221f, 2.4639664f, 102095.17f, 136126.9f, 408380.7f, 1e-10f, 0, 0, 0, 0, 0};
  for (size_t i = 0; i < points.size(); ++i) EXPECT_NEAR(values_of(out.points)[i], points[i], std::abs(points[i]) * 4 * 1.2e-7f) << i;
  EXPECT_THAT(values_of(out.confidence), ElementsAre(FloatEq(1.3678794f), FloatEq(2), FloatEq(13.182494f), FloatEq(2)));
}

TEST(RefActivatePointmap, OverflowsAsFloat32Does) {
  RefBench b;
  const Pointmap out = b.ops.activate_pointmap_exp(b.tensor({1, 1, 1, 4}, {89, -1, 0, -200}));
  EXPECT_EQ(values_of(out.points)[0], std::numeric_limits<float>::infinity());
  EXPECT_EQ(values_of(out.points)[1], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(values_of(out.points)[2]));
  EXPECT_EQ(values_of(out.confidence)[0], 1);
}

}  // namespace
}  // namespace pointmap
