// What tests of kernels share: two Ops on the same memory, the vectorised one judged by the reference, and random tensors.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/cpu/cpu_ops.h"
#include "kernels/cpu/for_each_target_test.h"
#include "kernels/ref/ref_ops.h"

namespace pointmap::cpu {

inline constexpr double kRounding = 0x1p-24;  // relative error of one rounding to float

struct TestBench {
  explicit TestBench(size_t num_threads = 2) : pool(num_threads) {}

  ThreadPool pool;
  Arena weights, activations;
  CpuOps cpu{OpsContext{pool, weights, activations}};
  RefOps ref{OpsContext{pool, weights, activations}};

  // Normal numbers around `mean`, the same for the same seed.
  Tensor random(const Shape& shape, uint32_t seed, float mean = 0, float deviation = 1) {
    Tensor t(activations, DType::kF32, shape);
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal(mean, deviation);
    std::generate_n(t.data<float>(), shape.num_elements(), [&] { return normal(engine); });
    return t;
  }
};

// |got - want| <= tolerance(i) for every element; infinities and NaN must be the same.
template <typename Tolerance>
void expect_close(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  ASSERT_EQ(got.shape(), want.shape());
  for (int64_t i = 0; i < want.shape().num_elements(); ++i) {
    const double g = got.data<float>()[i], w = want.data<float>()[i];
    if (std::isfinite(w)) {
      ASSERT_LE(std::abs(g - w), tolerance(i)) << "element " << i << ": got " << g << ", want " << w;
    } else {
      ASSERT_TRUE(g == w || (std::isnan(g) && std::isnan(w))) << "element " << i << ": got " << g << ", want " << w;
    }
  }
}

inline void expect_equal(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape(), want.shape());
  EXPECT_EQ(std::memcmp(got.data<float>(), want.data<float>(), want.num_bytes()), 0);
}

// run(bench) -> Tensor must give the same bits with 1, 2, 3 and 7 threads on every target.
template <typename Run>
void expect_same_bits_for_any_number_of_threads(const Run& run) {
  for_each_target([&] {
    TestBench one(1);
    const Tensor want = run(one);
    for (const size_t num_threads : {2u, 3u, 7u}) {
      TestBench many(num_threads);
      SCOPED_TRACE(testing::Message() << num_threads << " threads");
      expect_equal(run(many), want);
    }
  });
}

}  // namespace pointmap::cpu
