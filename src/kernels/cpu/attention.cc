// Blocking and softmax around the two register tiles of attention_tile-inl.h.
//
// A task is a block of query rows of one head. The worker packs the head's keys (transposed, in panels) and values (rows without the
// gaps of packed QKV, whose stride of a multiple of 4 KiB would map all rows to the same few cache sets) unless it did so for its
// previous task. Then, for the block: all scores, panel by panel; softmax row by row; context, kKeyBlock keys at a time. Rows do not
// touch each other, so how they are blocked and who computes them changes no bit.
#include "kernels/cpu/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention.cc"  // NOLINT
#include "hwy/foreach_target.h"                        // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/attention_tile-inl.h"
#include "kernels/cpu/math-inl.h"

#ifndef POINTMAP_KERNELS_CPU_ATTENTION_ONCE_
#define POINTMAP_KERNELS_CPU_ATTENTION_ONCE_
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/check.h"
#include "tensor/tensor.h"

namespace pointmap::cpu {

// Probabilities times values are summed over this many keys in registers before they join the sum in memory: one chain over all
// keys would cost accuracy. 128 rows of 64 values are 32 KiB, which stay in L1 while the rows of the block pass.
inline constexpr int64_t kKeyBlock = 128;
// Scores of a block take at most this much, beside packed keys and values in L2; a block has at most kMaxBlockRows rows.
inline constexpr int64_t kScoreBytes = 256 * 1024;
inline constexpr int64_t kMaxBlockRows = 96;

struct AttentionPlan {
  AttentionInputs inputs;
  float* y = nullptr;
  int64_t batch = 0, num_queries = 0, num_keys = 0, head_dim = 0;
  int64_t padded_keys = 0, padded_dim = 0;
  int64_t block_rows = 0, blocks_per_head = 0;
  // Parts of a worker's scratch, in floats from its start.
  int64_t values_at = 0, queries_at = 0, scores_at = 0, context_at = 0, scratch_floats = 0;
};

}  // namespace pointmap::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {

int64_t round_up(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

// Sizes that depend on the instruction set.
void plan_for_target(AttentionPlan& plan) {
  plan.padded_keys = round_up(plan.num_keys, kScoreWidth);
  plan.padded_dim = round_up(plan.head_dim, kContextWidth);
  const int64_t rows_in_cache = kScoreBytes / static_cast<int64_t>(sizeof(float)) / plan.padded_keys;
  plan.block_rows = std::min(std::clamp(rows_in_cache / kScoreRows * kScoreRows, kScoreRows, kMaxBlockRows / kScoreRows * kScoreRows),
                             round_up(plan.num_queries, kScoreRows));
  plan.blocks_per_head = (plan.num_queries + plan.block_rows - 1) / plan.block_rows;
  constexpr int64_t kAlign = 16;  // a cache line, and the longest vector
  plan.values_at = round_up(plan.padded_keys * plan.head_dim, kAlign);
  plan.queries_at = plan.values_at + round_up(plan.num_keys * plan.padded_dim, kAlign);
  plan.scores_at = plan.queries_at + round_up(plan.block_rows * plan.head_dim, kAlign);
  plan.context_at = plan.scores_at + round_up(plan.block_rows * plan.padded_keys, kAlign);
  plan.scratch_floats = plan.context_at + round_up(plan.block_rows * plan.padded_dim, kAlign);
}

// keys [padded_keys / kScoreWidth][head_dim][kScoreWidth], zero beyond the last key.
void pack_keys(const AttentionPlan& plan, int64_t image, int64_t channel, float* HWY_RESTRICT keys) {
  const TensorView& k = plan.inputs.k;
  for (int64_t j = 0; j < plan.padded_keys; ++j) {
    float* HWY_RESTRICT to = keys + j / kScoreWidth * kScoreWidth * plan.head_dim + j % kScoreWidth;
    const float* HWY_RESTRICT from = k.data<float>() + (image * plan.num_keys + std::min(j, plan.num_keys - 1)) * k.row_stride() + channel;
    const float keep = j < plan.num_keys ? 1.0f : 0.0f;
    for (int64_t c = 0; c < plan.head_dim; ++c) to[c * kScoreWidth] = keep * from[c];
  }
}

// values [num_keys][padded_dim], zero beyond head_dim.
void pack_values(const AttentionPlan& plan, int64_t image, int64_t channel, float* HWY_RESTRICT values) {
  const TensorView& v = plan.inputs.v;
  for (int64_t j = 0; j < plan.num_keys; ++j) {
    const float* from = v.data<float>() + (image * plan.num_keys + j) * v.row_stride() + channel;
    std::copy_n(from, plan.head_dim, values + j * plan.padded_dim);
    std::fill_n(values + j * plan.padded_dim + plan.head_dim, plan.padded_dim - plan.head_dim, 0.0f);
  }
}

// queries [rows / kScoreRows][head_dim][kScoreRows], zero beyond the last row. The sign of the scale goes in here, so that the
// largest score of a row is the largest exponent too.
void pack_queries(const AttentionPlan& plan, int64_t first_row, int64_t num_rows, int64_t channel, float* HWY_RESTRICT queries) {
  const TensorView& q = plan.inputs.q;
  const float sign = std::copysign(1.0f, plan.inputs.scale);
  std::fill_n(queries, round_up(num_rows, kScoreRows) * plan.head_dim, 0.0f);
  for (int64_t i = 0; i < num_rows; ++i) {
    float* HWY_RESTRICT to = queries + i / kScoreRows * kScoreRows * plan.head_dim + i % kScoreRows;
    const float* HWY_RESTRICT from = q.data<float>() + (first_row + i) * q.row_stride() + channel;
    for (int64_t c = 0; c < plan.head_dim; ++c) to[c * kScoreRows] = sign * from[c];
  }
}

// row[j] = 2^(base2_scale (row[j] - max)), and their sum. Subtracted before scaled: the error is relative to the difference, which
// is small where the weight is large, and the exponent is never above 0.
float exponentials_of_row(float* HWY_RESTRICT row, int64_t padded_keys, float base2_scale) {
  const hn::ScalableTag<float> d;
  auto max0 = hn::Load(d, row), max1 = hn::Load(d, row + kAttentionLanes);
  for (int64_t j = kScoreWidth; j < padded_keys; j += kScoreWidth) {
    max0 = hn::Max(max0, hn::Load(d, row + j));
    max1 = hn::Max(max1, hn::Load(d, row + j + kAttentionLanes));
  }
  const auto scale = hn::Set(d, base2_scale);
  const auto max = hn::MaxOfLanes(d, hn::Max(max0, max1));
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d);
  for (int64_t j = 0; j < padded_keys; j += kScoreWidth) {
    const auto e0 = exp2_of_non_positive(d, hn::Mul(scale, hn::Sub(hn::Load(d, row + j), max)));
    const auto e1 = exp2_of_non_positive(d, hn::Mul(scale, hn::Sub(hn::Load(d, row + j + kAttentionLanes), max)));
    hn::Store(e0, d, row + j);
    hn::Store(e1, d, row + j + kAttentionLanes);
    sum0 = hn::Add(sum0, e0);
    sum1 = hn::Add(sum1, e1);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
}

// to[c] = from[c] / divisor.
void divide_row(const float* HWY_RESTRICT from, float divisor, int64_t num_channels, float* HWY_RESTRICT to) {
  const hn::ScalableTag<float> d;
  const auto divisors = hn::Set(d, divisor);
  int64_t c = 0;
  for (; c + kAttentionLanes <= num_channels; c += kAttentionLanes) hn::StoreU(hn::Div(hn::Load(d, from + c), divisors), d, to + c);
  for (; c < num_channels; ++c) to[c] = from[c] / divisor;
}

void scores_of_block(const AttentionPlan& plan, int64_t tile_rows, float* scratch) {
  for (int64_t panel = 0; panel < plan.padded_keys; panel += kScoreWidth) {
    for (int64_t i = 0; i < tile_rows; i += kScoreRows) {
      score_tile(scratch + plan.queries_at + i * plan.head_dim, scratch + panel * plan.head_dim, plan.head_dim,
                 scratch + plan.scores_at + i * plan.padded_keys + panel, plan.padded_keys);
    }
  }
}

void context_of_block(const AttentionPlan& plan, int64_t tile_rows, float* scratch) {
  std::fill_n(scratch + plan.context_at, tile_rows * plan.padded_dim, 0.0f);
  for (int64_t key = 0; key < plan.num_keys; key += kKeyBlock) {
    const int64_t num_keys = std::min(kKeyBlock, plan.num_keys - key);
    for (int64_t i = 0; i < tile_rows; i += kContextRows) {
      for (int64_t c = 0; c < plan.padded_dim; c += kContextWidth) {
        context_tile(scratch + plan.scores_at + i * plan.padded_keys + key, plan.padded_keys,
                     scratch + plan.values_at + key * plan.padded_dim + c, num_keys, scratch + plan.context_at + i * plan.padded_dim + c,
                     plan.padded_dim);
      }
    }
  }
}

// packed_head: whose keys and values `scratch` holds, or -1.
void attend_block(const AttentionPlan& plan, int64_t task, float* scratch, int64_t& packed_head) {
  const int64_t head = task / plan.blocks_per_head, block = task % plan.blocks_per_head;  // head counts through the batch
  const int64_t image = head / plan.inputs.num_heads, channel = head % plan.inputs.num_heads * plan.head_dim;
  if (packed_head != head) {
    pack_keys(plan, image, channel, scratch);
    pack_values(plan, image, channel, scratch + plan.values_at);
    packed_head = head;
  }
  const int64_t first_row = image * plan.num_queries + block * plan.block_rows;
  const int64_t num_rows = std::min(plan.block_rows, plan.num_queries - block * plan.block_rows);
  const int64_t tile_rows = round_up(num_rows, kScoreRows);  // rows beyond num_rows are computed from zeros and dropped
  pack_queries(plan, first_row, num_rows, channel, scratch + plan.queries_at);
  scores_of_block(plan, tile_rows, scratch);

  float sums[kMaxBlockRows];
  const float base2_scale = std::abs(plan.inputs.scale) * 1.44269504f;  // e^x = 2^(x log2 e)
  for (int64_t i = 0; i < num_rows; ++i) {
    float* row = scratch + plan.scores_at + i * plan.padded_keys;
    // Padding weighs 2^-126 and meets no value.
    std::fill(row + plan.num_keys, row + plan.padded_keys, -std::numeric_limits<float>::infinity());
    sums[i] = exponentials_of_row(row, plan.padded_keys, base2_scale);
  }
  context_of_block(plan, tile_rows, scratch);
  for (int64_t i = 0; i < num_rows; ++i) {
    divide_row(scratch + plan.context_at + i * plan.padded_dim, sums[i], plan.head_dim,
               plan.y + (first_row + i) * plan.inputs.num_heads * plan.head_dim + channel);
  }
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pointmap::cpu {
namespace {

HWY_EXPORT(plan_for_target);
HWY_EXPORT(attend_block);

}  // namespace

void attention(ThreadPool& pool, Arena& arena, const AttentionInputs& inputs, float* y) {
  POINTMAP_CHECK(std::isfinite(inputs.scale) && inputs.scale != 0, "attention: scale is " + std::to_string(inputs.scale));
  AttentionPlan plan{.inputs = inputs, .y = y};
  plan.batch = inputs.q.shape()[0];
  plan.num_queries = inputs.q.shape()[1];
  plan.num_keys = inputs.k.shape()[1];
  plan.head_dim = inputs.q.shape()[2] / inputs.num_heads;
  if (inputs.q.shape().num_elements() == 0) return;
  HWY_DYNAMIC_DISPATCH(plan_for_target)(plan);
  const auto attend = HWY_DYNAMIC_DISPATCH(attend_block);

  const auto num_workers = static_cast<int64_t>(pool.num_threads());
  Tensor scratch(arena, DType::kF32, {num_workers, plan.scratch_floats});
  float* const memory = scratch.data<float>();
  std::vector<int64_t> packed_heads(pool.num_threads(), -1);
  const auto num_tasks = static_cast<size_t>(plan.batch * inputs.num_heads * plan.blocks_per_head);
  pool.parallel_for(num_tasks, [&](size_t task, size_t worker) {
    attend(plan, static_cast<int64_t>(task), memory + static_cast<int64_t>(worker) * plan.scratch_floats, packed_heads[worker]);
  });
}

}  // namespace pointmap::cpu
#endif
