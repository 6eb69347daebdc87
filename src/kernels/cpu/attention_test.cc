// Attention against double loops on every instruction set.
#include "kernels/cpu/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "kernels/cpu/for_each_target_test.h"
#include "tensor/tensor.h"

namespace pointmap::cpu {
namespace {

constexpr double kEps = 0x1p-24;  // half a float step at 1: the error of one rounding

constexpr double kSigmas = 3;

struct Sizes {
  int64_t batch, num_queries, num_keys, num_heads, head_dim;
};

// q, k, v as slices of one tensor with gaps between rows, the gaps full of NaN.
struct Problem {
  Sizes sizes;
  float scale;
  Arena arena;
  Tensor queries, keys_values;  // [B, Nq, C + 3], [B, Nk, 2 C + 5]

  Problem(const Sizes& s, float scale_in, float magnitude, uint32_t seed = 1) : sizes(s), scale(scale_in) {
    const int64_t channels = s.num_heads * s.head_dim;
    queries = Tensor(arena, DType::kF32, {s.batch, s.num_queries, channels + 3});
    keys_values = Tensor(arena, DType::kF32, {s.batch, s.num_keys, 2 * channels + 5});
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, magnitude);
    for (Tensor* t : {&queries, &keys_values}) {
      for (int64_t i = 0; i < t->shape().num_elements(); ++i) {
        const int64_t column = i % t->shape()[-1];
        const bool gap = t == &queries ? column >= channels : (column == channels || column > 2 * channels);
        t->data<float>()[i] = gap ? std::numeric_limits<float>::quiet_NaN() : normal(random);
      }
    }
  }
  AttentionInputs inputs() const {
    const int64_t channels = sizes.num_heads * sizes.head_dim;
    return {.q = queries.view().slice_last(0, channels),
            .k = keys_values.view().slice_last(0, channels),
            .v = keys_values.view().slice_last(channels + 1, 2 * channels + 1),
            .num_heads = sizes.num_heads,
            .scale = scale};
  }
  std::vector<float> run(size_t num_threads) {
    ThreadPool pool(num_threads);
    std::vector<float> y(static_cast<size_t>(sizes.batch * sizes.num_queries * sizes.num_heads * sizes.head_dim), 12345.0f);
    attention(pool, arena, inputs(), y.data());
    return y;
  }
};

// One output by its definition, and how far float arithmetic may be from it: roundings have random signs, so their variances add.
struct Expectation {
  double value, tolerance;
};

std::vector<Expectation> expected_row(const Problem& problem, int64_t image, int64_t query, int64_t head) {
  const AttentionInputs in = problem.inputs();
  const Sizes& s = problem.sizes;
  const int64_t channel = head * s.head_dim;
  const float* q = in.q.data<float>() + (image * s.num_queries + query) * in.q.row_stride() + channel;
  std::vector<double> scores, score_errors;
  for (int64_t j = 0; j < s.num_keys; ++j) {
    const float* k = in.k.data<float>() + (image * s.num_keys + j) * in.k.row_stride() + channel;
    double dot = 0, squares = 0;
    for (int64_t c = 0; c < s.head_dim; ++c) {
      dot += static_cast<double>(q[c]) * k[c];
      squares += std::pow(static_cast<double>(q[c]) * k[c], 2);
    }
    scores.push_back(dot * in.scale);
    // The c-th of head_dim roundings is that of a sum about as large as the root of c squares; without FMA products round too.
    score_errors.push_back(kEps * std::sqrt(static_cast<double>(s.head_dim) * squares) * std::abs(in.scale));
  }
  const double largest = *std::max_element(scores.begin(), scores.end());
  std::vector<double> weights(scores.size());
  double total = 0;
  for (size_t j = 0; j < scores.size(); ++j) total += weights[j] = std::exp(scores[j] - largest);
  std::vector<Expectation> row;
  for (int64_t c = 0; c < s.head_dim; ++c) {
    const auto v_at = [&](size_t j) {
      return static_cast<double>(in.v.data<float>()[(image * s.num_keys + static_cast<int64_t>(j)) * in.v.row_stride() + channel + c]);
    };
    double value = 0, squares = 0, variance = 0;
    for (size_t j = 0; j < scores.size(); ++j) value += weights[j] / total * v_at(j);
    for (size_t j = 0; j < scores.size(); ++j) {
      // d out / d score_j = p_j (v_j - out). The exponent carries the errors of score_j and of two more roundings; exp2 adds 2.
      const double p = weights[j] / total, exponent = scores[j] - largest;
      const double weight_error = score_errors[j] + 2 * kEps * (1 - exponent);
      variance += std::pow(p * (v_at(j) - value) * weight_error, 2);
      squares += std::pow(p * v_at(j), 2);
    }
    // Sums of 96 keys and of up to 63 such sums; at last the division.
    variance += std::pow(kEps, 2) * (96 + 63) * squares + std::pow(2 * kEps * value, 2);
    row.push_back({value, kSigmas * std::sqrt(variance)});
  }
  return row;
}

void expect_right(Problem& problem) {
  const Sizes& s = problem.sizes;
  const std::vector<float> y = problem.run(2);
  for (int64_t image = 0; image < s.batch; ++image) {
    for (int64_t query = 0; query < s.num_queries; ++query) {
      for (int64_t head = 0; head < s.num_heads; ++head) {
        const std::vector<Expectation> row = expected_row(problem, image, query, head);
        for (int64_t c = 0; c < s.head_dim; ++c) {
          const double got = y[static_cast<size_t>(((image * s.num_queries + query) * s.num_heads + head) * s.head_dim + c)];
          const Expectation& want = row[static_cast<size_t>(c)];
          ASSERT_LE(std::abs(got - want.value), want.tolerance)
              << "image " << image << " query " << query << " head " << head << " channel " << c << ": got " << got << ", want "
              << want.value << " +- " << want.tolerance;
        }
      }
    }
  }
}

TEST(Attention, IsRightForOddSizes) {
  for_each_target([] {
    for (const Sizes& s :
         {Sizes{1, 1, 1, 1, 4}, Sizes{2, 13, 33, 3, 32}, Sizes{1, 12, 64, 2, 64}, Sizes{2, 7, 129, 2, 20}, Sizes{1, 100, 31, 1, 64},
          Sizes{1, 25, 300, 1, 96}, Sizes{3, 5, 17, 2, 7}, Sizes{1, 110, 257, 1, 64}, Sizes{1, 3, 3, 2, 128}}) {
      SCOPED_TRACE(testing::Message() << s.batch << " x " << s.num_queries << " x " << s.num_keys << ", " << s.num_heads << " heads of "
                                      << s.head_dim);
      Problem problem(s, 1 / std::sqrt(static_cast<float>(s.head_dim)), 1);
      expect_right(problem);
    }
  });
}

TEST(Attention, IsRightForManyPassesOverTheKeys) {
  for_each_target([] {
    for (const int64_t num_keys : {384, 385, 769, 6000}) {
      Problem problem({1, 14, num_keys, 1, 64}, 0.125f, 1);
      expect_right(problem);
    }
  });
}

TEST(Attention, ScalesDownWhatItSummedWhenLaterKeysAreMoreImportant) {
  for_each_target([] {
    Problem problem({1, 14, 2000, 2, 16}, 0.25f, 1);
    const int64_t row_floats = problem.keys_values.shape()[-1];
    for (int64_t j = 0; j < 2000; ++j) {
      for (int64_t c = 0; c < 32; ++c) problem.keys_values.data<float>()[j * row_floats + c] *= static_cast<float>(j + 1) / 400;
    }
    expect_right(problem);
  });
}

TEST(Attention, ForgetsKeysOfNoWeightAtAll) {
  for_each_target([] {
    Arena arena;
    ThreadPool pool(1);
    constexpr int64_t kKeys = 900, kWithout = 500;  // more than one pass of them
    Tensor q(arena, DType::kF32, {1, 1, 4}), k(arena, DType::kF32, {1, kKeys, 4}), v(arena, DType::kF32, {1, kKeys, 4});
    std::fill_n(q.data<float>(), 4, 3e38f);
    std::fill_n(k.data<float>(), kKeys * 4, 0.0f);
    std::fill_n(k.data<float>(), kWithout * 4, -3e38f);  // scores of minus infinity
    for (int64_t i = 0; i < kKeys * 4; ++i) v.data<float>()[i] = static_cast<float>(i / 4);
    float y[4];
    attention(pool, arena, {.q = q, .k = k, .v = v, .num_heads = 1, .scale = 1}, y);
    for (const float value : y) EXPECT_EQ(value, (kWithout + kKeys - 1) / 2.0f);  // the mean of the others
  });
}

TEST(Attention, IsRightForLargeNegativeAndZeroScale) {
  for_each_target([] {
    Problem large({1, 30, 70, 2, 32}, 1, 5);  // exponents of hundreds: nearly one key per row
    expect_right(large);
    Problem negative({1, 30, 70, 2, 32}, -0.2f, 1);
    expect_right(negative);
    Problem zero({1, 5, 70, 2, 32}, 0, 1);  // all keys weigh the same
    expect_right(zero);
  });
}

TEST(Attention, TakesTheMeanOfEqualKeysAndTheValueOfAnOutstandingOne) {
  for_each_target([] {
    Arena arena;
    ThreadPool pool(1);
    constexpr int64_t kKeys = 1000;
    Tensor q(arena, DType::kF32, {1, 1, 4}), k(arena, DType::kF32, {1, kKeys, 4}), v(arena, DType::kF32, {1, kKeys, 4});
    std::fill_n(q.data<float>(), 4, 3e17f);
    std::fill_n(k.data<float>(), kKeys * 4, 3e17f);  // scores of 3.6e35
    for (int64_t i = 0; i < kKeys * 4; ++i) v.data<float>()[i] = static_cast<float>(i / 4);
    float y[4];
    attention(pool, arena, {.q = q, .k = k, .v = v, .num_heads = 1, .scale = 1}, y);
    for (const float value : y) EXPECT_EQ(value, 499.5f);  // sums of integers: exact in blocks
    k.data<float>()[4 * 777] *= 2;
    attention(pool, arena, {.q = q, .k = k, .v = v, .num_heads = 1, .scale = 1}, y);
    for (const float value : y) EXPECT_EQ(value, 777);
  });
}

TEST(Attention, PassesNanOn) {
  for_each_target([] {
    Problem problem({1, 15, 40, 2, 32}, 0.2f, 1);
    problem.queries.data<float>()[3 * (64 + 3) + 5] = std::numeric_limits<float>::quiet_NaN();  // query 3, head 0
    const std::vector<float> y = problem.run(1);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 32 == 3 * 2) << i;
  });
}

TEST(Attention, HasTheSameBitsForAnyNumberOfThreads) {
  for_each_target([] {
    Problem problem({2, 230, 300, 3, 64}, 0.125f, 1);
    const std::vector<float> one = problem.run(1);
    for (const size_t num_threads : {2u, 3u, 7u}) {
      const std::vector<float> many = problem.run(num_threads);
      EXPECT_EQ(std::memcmp(one.data(), many.data(), one.size() * sizeof(float)), 0) << num_threads << " threads";
    }
  });
}

}  // namespace
}  // namespace pointmap::cpu
