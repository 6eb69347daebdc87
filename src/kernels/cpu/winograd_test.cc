// Winograd convolutions against the reference twin, on every instruction set of this machine, and against the error that their
// matrices allow.
#include "kernels/cpu/winograd.h"

#include <array>
#include <string>
#include <vector>

#include "kernels/cpu/against_reference_test.h"
#include "kernels/cpu/winograd_plan.h"
#include "kernels/cpu/winograd_points.h"

namespace pointmap::cpu {
namespace {

constexpr ConvGeometry kSameSize{.stride = 1, .padding = 1};

struct ConvCase {
  Shape input;  // [B, H, W, I]
  int64_t outputs;
  bool relu_input = false;
  Activation activation = Activation::kNone;
  bool residual = false;
  bool relu_residual = false;
};

// The matrices of F(4, 3) from their definition: A has the powers of the points, G the powers over the products of differences, B
// the coefficients of the products of (x - q) over the other points q. Absolute values, for bounds.
struct Matrices {
  double a[kPatchSide][kTileSide] = {};
  double g[kPatchSide][3] = {};
  double b[kPatchSide][kPatchSide] = {};

  Matrices() {
    const std::vector<double> points = {0, kPointA, -kPointA, kPointB, -kPointB};
    for (size_t i = 0; i <= points.size(); ++i) {
      std::vector<double> polynomial = {1};  // from the constant up
      double product = 1;
      for (size_t j = 0; j < points.size(); ++j) {
        if (j == i) continue;
        if (i < points.size()) product *= points[i] - points[j];
        polynomial.insert(polynomial.begin(), 0);
        for (size_t k = 0; k + 1 < polynomial.size(); ++k) polynomial[k] -= points[j] * polynomial[k + 1];
      }
      for (size_t k = 0; k < polynomial.size(); ++k) b[i][k] = std::abs(polynomial[k]);
      const bool infinity = i == points.size();
      for (size_t k = 0; k < kTileSide; ++k) a[i][k] = infinity ? (k == kTileSide - 1) : std::abs(std::pow(points[i], k));
      for (size_t k = 0; k < 3; ++k) g[i][k] = infinity ? (k == 2) : std::abs(std::pow(points[i], k) / product);
    }
  }
};

double at(const Tensor& x, int64_t image, int64_t y, int64_t x_position, int64_t channel) {
  const Shape& s = x.shape();
  if (y < 0 || y >= s[1] || x_position < 0 || x_position >= s[2]) return 0;
  return std::abs(x.data<float>()[((image * s[1] + y) * s[2] + x_position) * s[3] + channel]);
}

// |G| |g| |G^T| for every output and input channel, [O][I][points].
std::vector<double> kernel_magnitudes(const Tensor& weight, const Matrices& m) {
  const int64_t count = weight.shape()[0] * weight.shape()[1];
  std::vector<double> magnitudes(static_cast<size_t>(count * kNumPoints));
  for (int64_t k = 0; k < count; ++k) {
    for (int64_t p = 0; p < kNumPoints; ++p) {
      double sum = 0;
      for (int64_t t = 0; t < 9; ++t) {
        sum += m.g[p / kPatchSide][t / 3] * std::abs(weight.data<float>()[k * 9 + t]) * m.g[p % kPatchSide][t % 3];
      }
      magnitudes[static_cast<size_t>(k * kNumPoints + p)] = sum;
    }
  }
  return magnitudes;
}

// |A^T| (sum over channels of (|G| |g| |G^T|) (|B^T| |d| |B|)) |A| for every output: what all roundings are relative to.
Tensor sum_of_magnitudes(TestBench& bench, const Tensor& x, const Tensor& weight) {
  static const Matrices m;
  const Shape& s = x.shape();
  const int64_t outputs = weight.shape()[0], inputs = s[3];
  const std::vector<double> kernels = kernel_magnitudes(weight, m);
  Tensor sums(bench.activations, DType::kF32, s.with_last(outputs));
  const WinogradMaps maps{.batch = s[0], .height = s[1], .width = s[2]};
  std::vector<double> patches(static_cast<size_t>(inputs * kNumPoints));
  for (int64_t tile = 0; tile < maps.num_tiles(); ++tile) {
    const int64_t line = tile / maps.tiles_across(), image = line / maps.tiles_down();
    const int64_t top = line % maps.tiles_down() * kTileSide, left = tile % maps.tiles_across() * kTileSide;
    for (int64_t c = 0; c < inputs; ++c) {
      double lines[kPatchSide][kPatchSide] = {};  // |d| |B|
      for (int64_t i = 0; i < kNumPoints * kPatchSide; ++i) {
        const int64_t y = i / kNumPoints, p = i / kPatchSide % kPatchSide, k = i % kPatchSide;
        lines[y][p] += at(x, image, top - 1 + y, left - 1 + k, c) * m.b[p][k];
      }
      for (int64_t p = 0; p < kNumPoints; ++p) {
        double sum = 0;
        for (int64_t y = 0; y < kPatchSide; ++y) sum += m.b[p / kPatchSide][y] * lines[y][p % kPatchSide];
        patches[static_cast<size_t>(c * kNumPoints + p)] = sum;
      }
    }
    for (int64_t o = 0; o < outputs; ++o) {
      double products[kNumPoints] = {};
      for (int64_t i = 0; i < inputs * kNumPoints; ++i) {
        products[i % kNumPoints] += kernels[static_cast<size_t>(o * inputs * kNumPoints + i)] * patches[static_cast<size_t>(i)];
      }
      for (int64_t y = top; y < std::min(top + kTileSide, s[1]); ++y) {
        for (int64_t xx = left; xx < std::min(left + kTileSide, s[2]); ++xx) {
          double sum = 0;
          for (int64_t p = 0; p < kNumPoints; ++p) sum += m.a[p / kPatchSide][y - top] * products[p] * m.a[p % kPatchSide][xx - left];
          sums.data<float>()[((image * s[1] + y) * s[2] + xx) * outputs + o] = static_cast<float>(sum);
        }
      }
    }
  }
  return sums;
}

void check(const ConvCase& c) {
  SCOPED_TRACE("conv " + c.input.to_string() + " to " + std::to_string(c.outputs));
  TestBench bench;
  const Tensor x = bench.random(c.input, 1), w = bench.random({c.outputs, c.input[3], 3, 3}, 2), bias = bench.random({c.outputs}, 3);
  ASSERT_TRUE(winograd_fits(w.shape(), kSameSize));
  const Tensor residual = c.residual ? bench.random(c.input.with_last(c.outputs), 4) : Tensor();
  const ConvOptions options{.relu_input = c.relu_input, .activation = c.activation, .residual = residual, .relu_residual = c.relu_residual};
  const Tensor want = bench.ref.conv2d(x, *bench.ref.pack_conv2d(w, bias, kSameSize), options);
  const Tensor magnitudes = sum_of_magnitudes(bench, x, w);
  const auto packed = bench.cpu.pack_conv2d(w, bias, kSameSize);
  {  // What a caller left in the memory of the output: an element nobody writes shows.
    Tensor poison(bench.activations, DType::kF32, want.shape());
    std::fill_n(poison.data<float>(), want.shape().num_elements(), std::numeric_limits<float>::quiet_NaN());
  }
  const Tensor got = bench.cpu.conv2d(x, *packed, options);
  // Roundings of random sign, relative to partial sums much smaller than the sum of magnitudes: 1/4 of one rounding of that sum is
  // the worst of some 1e5 outputs. Activations have slope at most 1.13; bias, activation and residual round what they give.
  expect_close(got, want, [&](int64_t i) {
    const double y = want.data<float>()[i];
    return kRounding * (1.13 * magnitudes.data<float>()[i] / 4 + 6 * std::abs(y) + 12);
  });
}

TEST(Winograd, AgreesWithReferenceOnSizesThatFitNoTile) {
  for_each_target([] {
    check({{1, 1, 1, 32}, 32});
    check({{1, 4, 4, 32}, 33, true});
    check({{1, 5, 3, 48}, 40, false, Activation::kRelu});
    check({{2, 7, 9, 32}, 37, true, Activation::kRelu, true});
    check({{3, 2, 17, 64}, 65, true, Activation::kNone, true, true});
    check({{1, 30, 27, 32}, 32, false, Activation::kSilu, true});
    check({{1, 6, 41, 144}, 35, false, Activation::kGelu});
    check({{1, 37, 1, 160}, 32, true});
  });
}

TEST(Winograd, ErrorIsSmallAgainstTheSignal) {
  for_each_target([] {
    TestBench bench;
    const Tensor x = bench.random({1, 24, 24, 256}, 5), w = bench.random({32, 256, 3, 3}, 6);
    const ConvOptions options{.relu_input = true};
    const Tensor got = bench.cpu.conv2d(x, *bench.cpu.pack_conv2d(w, {}, kSameSize), options);
    const Tensor want = bench.ref.conv2d(x, *bench.ref.pack_conv2d(w, {}, kSameSize), options);
    double error = 0, norm = 0;
    for (int64_t i = 0; i < want.shape().num_elements(); ++i) {
      error += std::pow(static_cast<double>(got.data<float>()[i]) - want.data<float>()[i], 2);
      norm += std::pow(want.data<float>()[i], 2);
    }
    // 1.6e-7 for direct sums in chunks of 128; the points make 5 times that (of random signs, where they are at their worst), the
    // textbook's would make 11 times.
    std::printf("relative error %.2e\n", std::sqrt(error / norm));
    EXPECT_LE(std::sqrt(error / norm), 6 * 1.6e-7);
  });
}

TEST(Winograd, SameBitsForAnyNumberOfThreads) {
  expect_same_bits_for_any_number_of_threads([](TestBench& bench) {
    const Tensor x = bench.random({2, 31, 29, 32}, 7), w = bench.random({150, 32, 3, 3}, 8), bias = bench.random({150}, 9);
    return bench.cpu.conv2d(x, *bench.cpu.pack_conv2d(w, bias, kSameSize), {.activation = Activation::kRelu});
  });
}

TEST(Winograd, SameBitsForAnImageAloneAndAmongOthers) {
  TestBench bench;
  const Tensor x = bench.random({5, 9, 14, 32}, 10), w = bench.random({32, 32, 3, 3}, 11);
  const auto packed = bench.cpu.pack_conv2d(w, {}, kSameSize);
  const Tensor together = bench.cpu.conv2d(x, *packed);
  for (int64_t i = 0; i < 5; ++i) {
    const Tensor alone = bench.cpu.conv2d(x.view().slice_first(i, i + 1), *packed);
    EXPECT_EQ(std::memcmp(alone.data<float>(), together.data<float>() + i * 9 * 14 * 32, alone.num_bytes()), 0) << i;
  }
}

TEST(Winograd, HalfWeightsGiveTheBitsOfTheirWidenedValues) {
  TestBench bench;
  const Tensor x = bench.random({1, 6, 7, 32}, 12);
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    Tensor w(bench.activations, dtype, {32, 32, 3, 3}), bias(bench.activations, dtype, {32});
    std::mt19937 engine(13);
    for (int64_t i = 0; i < 32 * 32 * 9; ++i) static_cast<uint16_t*>(w.raw())[i] = static_cast<uint16_t>(engine() & 0xBBFF);  // finite
    for (int64_t i = 0; i < 32; ++i) static_cast<uint16_t*>(bias.raw())[i] = static_cast<uint16_t>(engine() & 0xBBFF);
    const Tensor wide_w = bench.ref.upload_weight(w), wide_bias = bench.ref.upload_weight(bias);
    expect_equal(bench.cpu.conv2d(x, *bench.cpu.pack_conv2d(w, bias, kSameSize)),
                 bench.cpu.conv2d(x, *bench.cpu.pack_conv2d(wide_w, wide_bias, kSameSize)));
  }
}

TEST(Winograd, FitsByWeightsAlone) {
  EXPECT_TRUE(winograd_fits({256, 256, 3, 3}, kSameSize));
  EXPECT_TRUE(winograd_fits({32, 96, 3, 3}, kSameSize));
  EXPECT_FALSE(winograd_fits({256, 256, 3, 3}, {.stride = 2, .padding = 1}));
  EXPECT_FALSE(winograd_fits({256, 256, 3, 3}, {.stride = 1, .padding = 0}));
  EXPECT_FALSE(winograd_fits({256, 256, 1, 3}, kSameSize));
  EXPECT_FALSE(winograd_fits({256, 40, 3, 3}, kSameSize));   // no whole vectors
  EXPECT_FALSE(winograd_fits({256, 512, 3, 3}, kSameSize));  // weights four times as large would show
  EXPECT_FALSE(winograd_fits({4, 256, 3, 3}, kSameSize));
}

TEST(Winograd, RefusesWeightsOfAnotherInstructionSet) {
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  if (targets.size() < 2) GTEST_SKIP() << "this machine has one instruction set";
  TestBench bench;
  const Tensor x = bench.random({1, 2, 3, 32}, 14);
  const auto packed = bench.cpu.pack_conv2d(bench.random({32, 32, 3, 3}, 15), {}, kSameSize);
  const ForcedTarget baseline(targets.back());
  EXPECT_THROW(bench.cpu.conv2d(x, *packed), Error);
}

TEST(WinogradPlan, TasksCoverEveryTileAndPanelOnceAndFitTheScratch) {
  for (const int64_t tiles : {1, 15, 100, 1369}) {
    for (const int64_t l2_bytes : {256 << 10, 2 << 20}) {
      const GemmMachine machine{.tile_rows = 14, .panel_width = 32, .l2_bytes = l2_bytes};
      const int64_t weight_panels = 7, channels = 48;
      const WinogradPlan plan(tiles, {.in_channels = channels, .num_weight_panels = weight_panels}, machine);
      std::vector<int> times_computed(static_cast<size_t>(tiles * weight_panels));
      for (int64_t task = 0; task < plan.num_tasks(); ++task) {
        const RowPanels panels = plan.row_panels(plan.block_of(task));
        EXPECT_LE(panels.count * plan.patch_panel_pitch(), plan.sums_offset());
        EXPECT_LE(panels.count * machine.tile_rows * machine.panel_width, plan.sums_point_pitch());
        const Range w = plan.weight_panels(task);
        for (int64_t tile = panels.first_row[0]; tile < panels.first_row[panels.count]; ++tile) {
          for (int64_t panel = w.begin; panel < w.end; ++panel) ++times_computed[static_cast<size_t>(tile * weight_panels + panel)];
        }
      }
      for (const int times : times_computed) ASSERT_EQ(times, 1);
      EXPECT_GE(plan.patch_point_pitch(), channels * machine.tile_rows);
      EXPECT_GE(plan.scratch_floats_per_worker(), plan.zeros_offset() + channels);
      for (const int64_t floats :
           {plan.patch_point_pitch(), plan.sums_point_pitch(), plan.sums_offset(), plan.scratch_floats_per_worker()}) {
        EXPECT_EQ(floats % kFloatsPerLine, 0);  // the tile loads aligned vectors
      }
    }
  }
}

}  // namespace
}  // namespace pointmap::cpu
