// Vector functions against double over millions of floats, on every target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/math_test.cc"  // NOLINT
#include "hwy/foreach_target.h"                        // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/math-inl.h"

#ifndef POINTMAP_KERNELS_CPU_MATH_TEST_ONCE_
#define POINTMAP_KERNELS_CPU_MATH_TEST_ONCE_
#include <cstddef>
namespace pointmap::cpu {
enum class Function { kExp2, kExp, kExpm1, kSilu, kGelu };
inline constexpr size_t kChunk = 4096;  // a multiple of every vector length
}  // namespace pointmap::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {

void evaluate(Function function, const float* x, float* y) {
  const hn::ScalableTag<float> d;
  for (size_t i = 0; i < kChunk; i += hn::Lanes(d)) {
    const auto v = hn::LoadU(d, x + i);
    switch (function) {
      case Function::kExp2:
        hn::StoreU(exp2_of_non_positive(d, v), d, y + i);
        break;
      case Function::kExp:
        hn::StoreU(vector_exp(d, v), d, y + i);
        break;
      case Function::kSilu:
        hn::StoreU(vector_silu(d, v), d, y + i);
        break;
      case Function::kExpm1:
        hn::StoreU(vector_expm1(d, v), d, y + i);
        break;
      case Function::kGelu:
        hn::StoreU(vector_gelu(d, v), d, y + i);
        break;
    }
  }
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/cpu/for_each_target_test.h"

namespace pointmap::cpu {
namespace {

HWY_EXPORT(evaluate);

constexpr double kUlp = 0x1p-23;  // largest relative distance of neighbouring floats
constexpr double kSmallestNormal = std::numeric_limits<float>::min();

std::vector<float> values_of(Function function, std::vector<float> x) {
  const size_t num_values = x.size();
  x.resize((num_values + kChunk - 1) / kChunk * kChunk, 0.0f);
  std::vector<float> y(x.size());
  for (size_t i = 0; i < x.size(); i += kChunk) HWY_DYNAMIC_DISPATCH(evaluate)(function, x.data() + i, y.data() + i);
  y.resize(num_values);
  return y;
}

// Every step-th float from 0 to last_magnitude, of the given sign: all exponents alike.
std::vector<float> floats_up_to(float last_magnitude, bool negative, uint32_t step) {
  std::vector<float> values;
  for (uint32_t bits = 0; bits <= std::bit_cast<uint32_t>(last_magnitude); bits += step) {
    values.push_back(std::bit_cast<float>(bits | (negative ? 0x80000000u : 0u)));
  }
  return values;
}

// |got - want| <= units * unit(x, want) for all x.
template <typename Want, typename Unit>
void expect_within(Function function, const std::vector<float>& x, double units, const Want& want, const Unit& unit) {
  const std::vector<float> y = values_of(function, x);
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = want(static_cast<double>(x[i]));
    const double error = y[i] == static_cast<float>(exact) ? 0 : std::abs(y[i] - exact) / unit(static_cast<double>(x[i]), exact);
    if (!(error <= worst)) worst = error, where = i;  // NaN counts
  }
  EXPECT_LE(worst, units) << "at " << x[where] << ": got " << y[where] << ", want " << want(static_cast<double>(x[where]));
}

constexpr uint32_t kStep = 509;  // prime: about 2 million floats of either sign

TEST(VectorMath, Exp2OfNonPositive) {
  for_each_target([] {
    expect_within(
        Function::kExp2, floats_up_to(126.0f, true, kStep), 1, [](double x) { return std::exp2(x); },
        [](double, double want) { return kUlp * want; });
    EXPECT_EQ(values_of(Function::kExp2, {-127, -1e30f, -INFINITY, -0.0f, 0.0f, -1}),
              (std::vector<float>{0x1p-126f, 0x1p-126f, 0x1p-126f, 1, 1, 0.5f}));
    EXPECT_TRUE(std::isnan(values_of(Function::kExp2, {NAN})[0]));
  });
}

TEST(VectorMath, Expm1) {
  for_each_target([] {
    for (const bool negative : {false, true}) {
      expect_within(
          Function::kExpm1, floats_up_to(88.7f, negative, kStep), 2, [](double x) { return std::expm1(x); },
          [](double, double want) { return kUlp * std::max(std::abs(want), kSmallestNormal); });
    }
    EXPECT_EQ(values_of(Function::kExpm1, {89, 1e30f, INFINITY, -20, -1e30f, -INFINITY, 0}),
              (std::vector<float>{INFINITY, INFINITY, INFINITY, -1, -1, -1, 0}));
    EXPECT_TRUE(std::isnan(values_of(Function::kExpm1, {NAN})[0]));
  });
}

TEST(VectorMath, Exp) {
  for_each_target([] {
    for (const float limit : {-86.0f, 88.7f}) {
      expect_within(
          Function::kExp, floats_up_to(std::abs(limit), limit < 0, kStep), 2, [](double x) { return std::exp(x); },
          [](double, double want) { return kUlp * want; });
    }
    EXPECT_EQ(values_of(Function::kExp, {89, 1e30f, INFINITY, 0, -0.0f}), (std::vector<float>{INFINITY, INFINITY, INFINITY, 1, 1}));
    for (const float y : values_of(Function::kExp, {-86, -87, -1e30f, -INFINITY})) EXPECT_NEAR(y / std::exp(-86.0), 1, 2 * kUlp);
    EXPECT_TRUE(std::isnan(values_of(Function::kExp, {NAN})[0]));
  });
}

TEST(VectorMath, Silu) {
  for_each_target([] {
    for (const float limit : {-86.0f, 1e30f}) {
      // exp 2, the sum, the product and the quotient half each.
      expect_within(
          Function::kSilu, floats_up_to(std::abs(limit), limit < 0, kStep), 3.5, [](double x) { return x / (1 + std::exp(-x)); },
          [](double, double want) { return kUlp * std::max(std::abs(want), kSmallestNormal); });
    }
    EXPECT_EQ(values_of(Function::kSilu, {0, INFINITY}), (std::vector<float>{0, INFINITY}));
    EXPECT_LE(std::abs(values_of(Function::kSilu, {-100})[0]), 100 * 4.6e-38);  // e^-86 from there on
    EXPECT_TRUE(std::isnan(values_of(Function::kSilu, {NAN})[0]));
  });
}

TEST(VectorMath, Gelu) {
  const auto want = [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); };
  for_each_target([&] {
    expect_within(Function::kGelu, floats_up_to(1e30f, false, kStep), 3, want,
                  [](double, double y) { return kUlp * std::max(y, kSmallestNormal); });
    expect_within(Function::kGelu, floats_up_to(13.0f, true, kStep), 4, want,
                  // Phi is rounded to a multiple of 2^-149 before it is multiplied by x: that is all below the normal floats.
                  [](double x, double y) { return kUlp * std::max(-y, kSmallestNormal) + std::abs(x) * 0x1p-149; });
    // The far tail is smaller than the smallest normal float: flushed, never NaN or of the wrong sign.
    expect_within(Function::kGelu, floats_up_to(1e30f, true, kStep), 1, want,
                  [](double x, double y) { return std::max(kSmallestNormal, 4 * kUlp * -y + std::abs(x) * 0x1p-149); });
    EXPECT_EQ(values_of(Function::kGelu, {INFINITY, 0})[0], INFINITY);
    EXPECT_TRUE(std::isnan(values_of(Function::kGelu, {NAN})[0]));
  });
}

}  // namespace
}  // namespace pointmap::cpu
#endif
