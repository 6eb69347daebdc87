// Linear layers and convolutions against the reference twin, on every instruction set of this machine and on sizes that fit no tile.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "kernels/cpu/cpu_ops.h"
#include "kernels/cpu/for_each_target_test.h"
#include "kernels/ref/ref_ops.h"

namespace pointmap {
namespace {

constexpr double kEps = std::numeric_limits<float>::epsilon();

struct Bench {
  explicit Bench(size_t num_threads = 2) : pool(num_threads) {}

  ThreadPool pool;
  Arena weights, activations;
  OpsContext context{pool, weights, activations};
  CpuOps cpu{context};
  RefOps ref{context};
  std::mt19937 random{7};

  Tensor normal(const Shape& shape) {
    Tensor t(activations, DType::kF32, shape);
    std::normal_distribution<float> distribution;
    for (int64_t i = 0; i < shape.num_elements(); ++i) t.data<float>()[i] = distribution(random);
    return t;
  }
  Tensor absolute(TensorView x) {
    Tensor t(activations, DType::kF32, x.shape());
    for (int64_t i = 0; i < x.shape().num_elements(); ++i) t.data<float>()[i] = std::abs(x.data<float>()[i]);
    return t;
  }
  Tensor absolute_or_empty(TensorView x) { return x.empty() ? Tensor() : absolute(x); }
  // What a caller left in the memory that outputs are written to: NaN, so that an element nobody writes shows.
  void poison(const Shape& shape) {
    Tensor t(activations, DType::kF32, shape);
    std::fill_n(t.data<float>(), shape.num_elements(), std::numeric_limits<float>::quiet_NaN());
  }
};

// Error of a float sum of products in chunks of 128: every addition rounds a partial sum, which for values of random sign is much
// smaller than sum |a b|; 2 eps sum |a b| covers the worst of some 1e5 sums. Activations have slope at most 1.13 (GELU, whose own
// error is a few eps of its value); writing and the residual round once each. sum_abs: the op on absolute values.
void expect_near(const Tensor& got, const Tensor& want, const Tensor& sum_abs) {
  ASSERT_EQ(got.shape(), want.shape());
  for (int64_t i = 0; i < got.shape().num_elements(); ++i) {
    const double y = want.data<float>()[i];
    const double tolerance = 2 * kEps * 1.13 * sum_abs.data<float>()[i] + 2 * kEps * std::abs(y);
    ASSERT_LE(std::abs(got.data<float>()[i] - y), tolerance) << "element " << i << " of " << got.shape().to_string() << ", want " << y;
  }
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.data<float>(), b.data<float>(), a.num_bytes()) == 0;
}

struct LinearCase {
  int64_t rows, outputs, inputs;
  bool bias = true;
  Activation activation = Activation::kNone;
  bool residual = false;
  bool scale = false;
};

void check_linear(Bench& b, const LinearCase& c) {
  SCOPED_TRACE("linear " + std::to_string(c.rows) + " x " + std::to_string(c.outputs) + " x " + std::to_string(c.inputs));
  const Tensor x = b.normal({c.rows, c.inputs}), w = b.normal({c.outputs, c.inputs});
  const Tensor bias = c.bias ? b.normal({c.outputs}) : Tensor();
  const Tensor residual = c.residual ? b.normal({c.rows, c.outputs}) : Tensor();
  const Tensor scale = c.scale ? b.normal({c.outputs}) : Tensor();
  const LinearOptions options{.activation = c.activation, .residual = residual};
  const Tensor want = b.ref.linear(x, *b.ref.pack_linear(w, bias, scale), options);
  // A scale rounds every weight once more: half an eps of every product, within what expect_near allows for.
  const auto magnitudes = b.ref.pack_linear(b.absolute(w), b.absolute_or_empty(bias), b.absolute_or_empty(scale));
  const Tensor sum_abs = b.ref.linear(b.absolute(x), *magnitudes);
  const auto packed = b.cpu.pack_linear(w, bias, scale);
  b.poison(want.shape());
  expect_near(b.cpu.linear(x, *packed, options), want, sum_abs);
}

TEST(CpuLinear, AgreesWithReferenceOnSizesThatFitNoTile) {
  cpu::for_each_target([] {
    Bench b;
    check_linear(b, {1, 1, 1});
    check_linear(b, {1, 1000, 77});
    check_linear(b, {2, 33, 5, false});
    check_linear(b, {3, 4, 128});
    check_linear(b, {14, 32, 256});
    check_linear(b, {15, 31, 257});
    check_linear(b, {29, 65, 511, true, Activation::kRelu});
    check_linear(b, {57, 96, 64, true, Activation::kGelu});
    check_linear(b, {101, 47, 130, false, Activation::kGelu, true});
    check_linear(b, {200, 19, 1027, true, Activation::kRelu, true});
    check_linear(b, {431, 3, 33, true, Activation::kNone, true});
    check_linear(b, {30, 41, 65, true, Activation::kSilu});
    check_linear(b, {17, 70, 90, true, Activation::kNone, true, true});
    check_linear(b, {5, 3, 7, false, Activation::kNone, false, true});
  });
}

TEST(CpuLinear, AddsToTheRowsNamedAndTouchesNoOthers) {
  cpu::for_each_target([] {
    Bench b;
    const Tensor x = b.normal({2, 21, 40}), w = b.normal({37, 40}), bias = b.normal({37}), before = b.normal({3, 30, 37});
    const auto packed = b.cpu.pack_linear(w, bias);
    Tensor got = b.ref.upload(before);
    b.cpu.add_linear(x, *packed, got, 11);
    const TensorView residual = before.view().reshape({90, 37}).slice_first(11, 53);
    const Tensor want = b.cpu.linear(x.view().reshape({42, 40}), *packed, {.residual = residual});
    for (int64_t i = 0; i < got.shape().num_elements(); ++i) {
      const int64_t inside = i - 11 * 37;
      const bool added = inside >= 0 && inside < want.shape().num_elements();
      ASSERT_EQ(got.data<float>()[i], added ? want.data<float>()[inside] : before.data<float>()[i]) << i;
    }
    EXPECT_THROW(b.cpu.add_linear(x, *packed, got, 49), Error);
    EXPECT_THROW(b.cpu.add_linear(x, *packed, got, -1), Error);
  });
}

TEST(CpuLinear, EveryRowCountOfATile) {
  cpu::for_each_target([] {
    Bench b;
    for (int64_t rows = 1; rows <= 30; ++rows) check_linear(b, {rows, 37, 19, true, Activation::kNone, true});
  });
}

TEST(CpuLinear, ReadsStridedRowsOfSeveralDimensions) {
  Bench b;
  const Tensor qkv = b.normal({2, 5, 30}), w = b.normal({7, 10});
  const TensorView keys = qkv.view().slice_last(10, 20);
  const Tensor got = b.cpu.linear(keys, *b.cpu.pack_linear(w, {}));
  const Tensor want = b.ref.linear(keys, *b.ref.pack_linear(w, {}));
  const Tensor abs_qkv = b.absolute(qkv);
  expect_near(got, want, b.ref.linear(abs_qkv.view().slice_last(10, 20), *b.ref.pack_linear(b.absolute(w), {})));
}

TEST(CpuLinear, LongSumsKeepTheErrorOfShortOnes) {
  cpu::for_each_target([] {
    Bench b;
    const Tensor x = b.normal({40, 4096}), w = b.normal({50, 4096});
    const Tensor got = b.cpu.linear(x, *b.cpu.pack_linear(w, {}));
    const Tensor want = b.ref.linear(x, *b.ref.pack_linear(w, {}));
    double error = 0, norm = 0;
    for (int64_t i = 0; i < want.shape().num_elements(); ++i) {
      error += std::pow(static_cast<double>(got.data<float>()[i]) - want.data<float>()[i], 2);
      norm += std::pow(want.data<float>()[i], 2);
    }
    // Rounding errors of n additions whose sum grows like sqrt(n): eps/2 sqrt(n/6) of the result. Here 128 in a chunk, 32 chunks
    // and, without FMA, the product itself (as 2); one chain of 4096 would come to 26 eps/2.
    EXPECT_LE(std::sqrt(error / norm), kEps / 2 * std::sqrt((128 + 32 + 2) / 6.0));
  });
}

TEST(CpuLinear, SameBitsForAnyNumberOfThreadsAndAnyNeighbours) {
  cpu::for_each_target([] {
    Arena kept;
    Tensor first;
    for (const size_t threads : {1, 2, 3, 7}) {
      Bench b(threads);
      const Tensor x = b.normal({230, 300}), w = b.normal({300, 300}), bias = b.normal({300});
      const auto packed = b.cpu.pack_linear(w, bias);
      const Tensor y = b.cpu.linear(x, *packed, {.activation = Activation::kGelu, .residual = b.normal({230, 300})});
      if (first.empty()) {
        first = Tensor(kept, DType::kF32, y.shape());
        std::memcpy(first.raw(), y.data<float>(), y.num_bytes());
      }
      EXPECT_TRUE(same_bits(y, first)) << threads << " threads";
      const Tensor alone = b.cpu.linear(x.view().slice_first(100, 101), *packed);
      const Tensor together = b.cpu.linear(x, *packed);
      EXPECT_EQ(std::memcmp(alone.data<float>(), together.data<float>() + 100 * 300, alone.num_bytes()), 0);
    }
  });
}

// Weights of random bits that are finite numbers in both 16-bit formats (exponent not all ones).
Tensor random_half(Bench& b, DType dtype, const Shape& shape) {
  Tensor t(b.activations, dtype, shape);
  for (int64_t i = 0; i < shape.num_elements(); ++i) static_cast<uint16_t*>(t.raw())[i] = static_cast<uint16_t>(b.random() & 0xBBFF);
  return t;
}

TEST(CpuLinear, HalfWeightsGiveTheBitsOfTheirWidenedValues) {
  Bench b;
  const Tensor x = b.normal({9, 45});
  const Tensor image = b.normal({1, 6, 7, 5});
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    const Tensor w = random_half(b, dtype, {21, 45}), bias = random_half(b, dtype, {21});
    const Tensor wide_w = b.ref.upload_weight(w), wide_bias = b.ref.upload_weight(bias);
    EXPECT_TRUE(same_bits(b.cpu.linear(x, *b.cpu.pack_linear(w, bias)), b.cpu.linear(x, *b.cpu.pack_linear(wide_w, wide_bias))));
    const Tensor scale = random_half(b, dtype, {21}), wide_scale = b.ref.upload_weight(scale);
    EXPECT_TRUE(
        same_bits(b.cpu.linear(x, *b.cpu.pack_linear(w, bias, scale)), b.cpu.linear(x, *b.cpu.pack_linear(wide_w, wide_bias, wide_scale))));
    const TensorView conv_w = w.view().reshape({21, 5, 3, 3}), wide_conv_w = wide_w.view().reshape({21, 5, 3, 3});
    EXPECT_TRUE(same_bits(b.cpu.conv2d(image, *b.cpu.pack_conv2d(conv_w, bias, {})),
                          b.cpu.conv2d(image, *b.cpu.pack_conv2d(wide_conv_w, wide_bias, {}))));
  }
}

TEST(CpuLinear, RefusesWeightsOfAnotherOpsAndOfAnotherInstructionSet) {
  Bench b;
  const Tensor x = b.normal({2, 3}), w = b.normal({4, 3});
  EXPECT_THROW(b.cpu.linear(x, *b.ref.pack_linear(w, {})), Error);
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  if (targets.size() < 2) GTEST_SKIP() << "this machine has one instruction set";
  const auto packed = b.cpu.pack_linear(w, {});
  const cpu::ForcedTarget baseline(targets.back());
  EXPECT_THROW(b.cpu.linear(x, *packed), Error);
}

struct ConvCase {
  Shape input;  // [B, H, W, I]
  int64_t outputs, kernel_height, kernel_width;
  ConvGeometry geometry;
  bool relu_input = false;
  Activation activation = Activation::kNone;
  bool residual = false;
  bool relu_residual = false;
};

void check_conv(Bench& b, const ConvCase& c) {
  SCOPED_TRACE("conv " + c.input.to_string() + " to " + std::to_string(c.outputs) + ", kernel " + std::to_string(c.kernel_height) + " x " +
               std::to_string(c.kernel_width) + " / " + std::to_string(c.geometry.stride));
  const Tensor x = b.normal(c.input), bias = b.normal({c.outputs});
  const Tensor w = b.normal({c.outputs, c.input[3], c.kernel_height, c.kernel_width});
  ConvOptions options{.relu_input = c.relu_input, .activation = c.activation};
  const auto ref_packed = b.ref.pack_conv2d(w, bias, c.geometry);
  const Tensor residual = c.residual ? b.normal(b.ref.conv2d(x, *ref_packed).shape()) : Tensor();
  options.residual = residual;
  options.relu_residual = c.relu_residual;
  const Tensor want = b.ref.conv2d(x, *ref_packed, options);
  const Tensor sum_abs = b.ref.conv2d(b.absolute(x), *b.ref.pack_conv2d(b.absolute(w), b.absolute(bias), c.geometry));
  const auto packed = b.cpu.pack_conv2d(w, bias, c.geometry);
  b.poison(want.shape());
  expect_near(b.cpu.conv2d(x, *packed, options), want, sum_abs);
}

TEST(CpuConv2d, AgreesWithReference) {
  cpu::for_each_target([] {
    Bench b;
    check_conv(b, {{1, 1, 1, 1}, 1, 1, 1, {}});
    check_conv(b, {{2, 5, 7, 33}, 40, 3, 3, {.stride = 1, .padding = 1}, true, Activation::kRelu, true});
    check_conv(b, {{1, 9, 8, 16}, 5, 3, 3, {.stride = 2, .padding = 1}});
    check_conv(b, {{2, 32, 48, 3}, 20, 16, 16, {.stride = 16, .padding = 0}});
    check_conv(b, {{1, 14, 28, 3}, 9, 14, 14, {.stride = 14, .padding = 0}});
    check_conv(b, {{1, 13, 6, 7}, 4, 1, 1, {}, true});
    check_conv(b, {{1, 6, 9, 2}, 3, 2, 5, {.stride = 3, .padding = 4}, false, Activation::kGelu, true});
    check_conv(b, {{3, 2, 2, 6}, 11, 3, 3, {.stride = 1, .padding = 2}, true});
    check_conv(b, {{1, 40, 3, 5}, 6, 7, 1, {.stride = 1, .padding = 3}});
    check_conv(b, {{1, 6, 5, 20}, 37, 3, 3, {.stride = 1, .padding = 1}, true, Activation::kNone, true, true});
  });
}

TEST(CpuConv2d, SameBitsForAnyNumberOfThreads) {
  Arena kept;
  Tensor first;
  for (const size_t threads : {1, 2, 3, 7}) {
    Bench b(threads);
    const Tensor x = b.normal({1, 31, 29, 24}), w = b.normal({40, 24, 3, 3});
    const Tensor y = b.cpu.conv2d(x, *b.cpu.pack_conv2d(w, {}, {.stride = 1, .padding = 1}));
    if (first.empty()) {
      first = Tensor(kept, DType::kF32, y.shape());
      std::memcpy(first.raw(), y.data<float>(), y.num_bytes());
    }
    EXPECT_TRUE(same_bits(y, first)) << threads << " threads";
  }
}

TEST(CpuConvTranspose2d, AgreesWithReference) {
  cpu::for_each_target([] {
    Bench b;
    struct Case {
      Shape input;
      int64_t outputs, kernel;
    };
    for (const Case& c : {Case{{1, 1, 1, 1}, 1, 1}, {{2, 3, 5, 17}, 37, 4}, {{1, 9, 4, 40}, 64, 2}, {{1, 2, 7, 8}, 3, 3}}) {
      SCOPED_TRACE("transposed conv " + c.input.to_string() + " kernel " + std::to_string(c.kernel));
      const Tensor x = b.normal(c.input), w = b.normal({c.input[3], c.outputs, c.kernel, c.kernel}), bias = b.normal({c.outputs});
      const Tensor want = b.ref.conv_transpose2d(x, *b.ref.pack_conv_transpose2d(w, bias));
      const Tensor sum_abs = b.ref.conv_transpose2d(b.absolute(x), *b.ref.pack_conv_transpose2d(b.absolute(w), b.absolute(bias)));
      const auto packed = b.cpu.pack_conv_transpose2d(w, bias);
      b.poison(want.shape());
      expect_near(b.cpu.conv_transpose2d(x, *packed), want, sum_abs);
    }
  });
}

}  // namespace
}  // namespace pointmap
