// The reference against products worked out by hand and check values of the specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/ref/ref_test_util.h"

namespace pointmap {
namespace {

using testing::ElementsAre;
using testing::FloatEq;

TEST(RefLinear, MultipliesAddsBiasActivatesThenAddsResidual) {
  RefBench b;
  const auto w = b.ops.pack_linear(b.tensor({2, 3}, {1, 2, 3, -4, 5, 6}), b.tensor({2}, {10, -100}));
  const Tensor x = b.tensor({2, 3}, {1, 0, 2, 3, 1, 1});
  EXPECT_THAT(values_of(b.ops.linear(x, *w)), ElementsAre(17, -92, 18, -101));
  const Tensor residual = b.tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(values_of(b.ops.linear(x, *w, {.activation = Activation::kRelu, .residual = residual})), ElementsAre(18, 2, 21, 4));
}

TEST(RefLinear, ReadsStridedRowsAndNeedsNoBias) {
  RefBench b;
  const auto w = b.ops.pack_linear(b.tensor({1, 2}, {1, 10}), {});
  const Tensor x = b.tensor({2, 4}, {9, 1, 2, 9, 9, 3, 4, 9});
  EXPECT_THAT(values_of(b.ops.linear(x.view().slice_last(1, 3), *w)), ElementsAre(21, 43));
}

TEST(RefLinear, WidensHalfPrecisionWeights) {
  RefBench b;
  Tensor f16(b.activations, DType::kF16, {1, 2}), bf16(b.activations, DType::kBF16, {1});
  static_cast<uint16_t*>(f16.raw())[0] = 0x3C00;   // 1
  static_cast<uint16_t*>(f16.raw())[1] = 0xC100;   // -2.5
  static_cast<uint16_t*>(bf16.raw())[0] = 0x3FC0;  // 1.5
  const auto w = b.ops.pack_linear(f16, bf16);
  EXPECT_THAT(values_of(b.ops.linear(b.tensor({1, 2}, {3, 1}), *w)), ElementsAre(2));
}

TEST(RefLinear, GeluHasTheValuesOfTheSpecification) {
  RefBench b;
  const auto w = b.ops.pack_linear(b.tensor({1, 1}, {1}), {});
  const std::vector<float> x = {-2, -0.5f, 0.5f, 2}, printed = {-0.0455001f, -0.1542688f, 0.3457312f, 1.9544999f};
  const std::vector<float> y = values_of(b.ops.linear(b.tensor({4, 1}, x), *w, {.activation = Activation::kGelu}));
  // Printed from float32 arithmetic, where 1 + erf cancels: a float step of 1, times |x|.
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], printed[i], std::abs(x[i]) * 1.2e-7f) << x[i];
  EXPECT_FLOAT_EQ(y[0], static_cast<float>(-2 * 0.02275013194817921));  // the normal distribution at -2, from tables
  // Far in the tail erf is -1 to the last bit of a double, GELU is not 0: x/2 erfc(7 sqrt 2) with erfc(9.8995) from tables.
  const Tensor tail = b.ops.linear(b.tensor({1, 1}, {-14}), *w, {.activation = Activation::kGelu});
  EXPECT_NEAR(values_of(tail)[0] / -1.0908898e-43, 1, 0.01);  // 14 * 7.7935368e-45, a float subnormal of 78 steps
}

TEST(RefLinear, ScalesOutputsAndAddsInPlace) {
  RefBench b;
  const auto w = b.ops.pack_linear(b.tensor({2, 2}, {1, 2, 3, 4}), b.tensor({2}, {10, 20}), b.tensor({2}, {2, -1}));
  Tensor y = b.tensor({3, 2}, {1, 1, 1, 1, 1, 1});
  b.ops.add_linear(b.tensor({1, 2}, {1, 1}), *w, y, 1);
  EXPECT_THAT(values_of(y), ElementsAre(1, 1, 27, -26, 1, 1));  // (3 + 10) 2 + 1 and -(7 + 20) + 1
}

TEST(RefLinear, SiluIsXTimesItsLogistic) {
  RefBench b;
  const auto w = b.ops.pack_linear(b.tensor({1, 1}, {1}), {});
  const Tensor y = b.ops.linear(b.tensor({3, 1}, {0, std::log(3.0f), -std::log(3.0f)}), *w, {.activation = Activation::kSilu});
  EXPECT_THAT(values_of(y), ElementsAre(0, FloatEq(0.75f * std::log(3.0f)), FloatEq(-0.25f * std::log(3.0f))));
}

TEST(RefConv2d, CorrelatesWithZeroPaddingAndStride) {
  RefBench b;
  // One channel, 2 x 2 kernel [[1, 2], [3, 4]] on [[1, 2, 3], [4, 5, 6], [7, 8, 9]].
  const auto plain = b.ops.pack_conv2d(b.tensor({1, 1, 2, 2}, {1, 2, 3, 4}), b.tensor({1}, {100}), {});
  const Tensor x = b.tensor({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_THAT(values_of(b.ops.conv2d(x, *plain)), ElementsAre(137, 147, 167, 177));
  const auto padded = b.ops.pack_conv2d(b.tensor({1, 1, 2, 2}, {1, 2, 3, 4}), {}, {.stride = 2, .padding = 1});
  // Windows start at rows and columns -1 and 1: 4*1, 3*2 + 4*3, 2*4 + 4*7, the full one at (1, 1).
  EXPECT_THAT(values_of(b.ops.conv2d(x, *padded)), ElementsAre(4, 18, 36, 77));
}

TEST(RefConv2d, MixesChannelsActivatesInputAndAddsResidual) {
  RefBench b;
  const auto w = b.ops.pack_conv2d(b.tensor({2, 2, 1, 1}, {1, 10, -1, 2}), {}, {});
  const Tensor x = b.tensor({1, 1, 2, 2}, {1, -2, 3, 4});
  EXPECT_THAT(values_of(b.ops.conv2d(x, *w)), ElementsAre(-19, -5, 43, 5));
  EXPECT_THAT(values_of(b.ops.conv2d(x, *w, {.relu_input = true})), ElementsAre(1, -1, 43, 5));
  const Tensor residual = b.tensor({1, 1, 2, 2}, {0.5f, 0.5f, 0.5f, 0.5f});
  EXPECT_THAT(values_of(b.ops.conv2d(x, *w, {.activation = Activation::kRelu, .residual = residual})),
              ElementsAre(0.5f, 0.5f, 43.5f, 5.5f));
  const Tensor mixed = b.tensor({1, 1, 2, 2}, {-5, 1, 0.5f, -3});
  EXPECT_THAT(values_of(b.ops.conv2d(x, *w, {.residual = mixed, .relu_residual = true})), ElementsAre(-19, -4, 43.5f, 5));
}

TEST(RefConvTranspose2d, StampsTheKernelAtEveryInputPixel) {
  RefBench b;
  // Two inputs, one output, k = 2: input channel 0 stamps [[1, 2], [3, 4]], channel 1 stamps [[10, 20], [30, 40]].
  const auto w = b.ops.pack_conv_transpose2d(b.tensor({2, 1, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40}), b.tensor({1}, {0.5f}));
  const Tensor y = b.ops.conv_transpose2d(b.tensor({1, 1, 2, 2}, {1, 0, 2, 1}), *w);
  EXPECT_EQ(y.shape(), (Shape{1, 2, 4, 1}));
  EXPECT_THAT(values_of(y), ElementsAre(1.5f, 2.5f, 12.5f, 24.5f, 3.5f, 4.5f, 36.5f, 48.5f));
}

TEST(RefAttention, WeighsValuesBySoftmaxPerHead) {
  RefBench b;
  // Two heads of one channel, one query, two keys. Head 0: scores ln 3 and 0, weights 3/4 and 1/4. Head 1: equal scores.
  const float ln3 = std::log(3.0f);
  const Tensor q = b.tensor({1, 1, 2}, {2, 0});
  const Tensor k = b.tensor({1, 2, 2}, {ln3, 5, 0, -7});
  const Tensor v = b.tensor({1, 2, 2}, {4, 10, 8, 20});
  EXPECT_THAT(values_of(b.ops.attention(q, k, v, 2, 0.5f)), ElementsAre(FloatEq(5), FloatEq(15)));
}

TEST(RefAttention, KeepsImagesApartAndSurvivesLargeScores) {
  RefBench b;
  const Tensor q = b.tensor({2, 1, 1}, {1000, -1000});
  const Tensor k = b.tensor({2, 2, 1}, {1, 2, 1, 2});
  const Tensor v = b.tensor({2, 2, 1}, {1, 2, 3, 4});
  EXPECT_THAT(values_of(b.ops.attention(q, k, v, 1, 1)), ElementsAre(2, 3));
}

}  // namespace
}  // namespace pointmap
