// Blocking and softmax around the two register tiles of attention_tile-inl.h.
//
// A task is a block of query rows of one head. The worker packs the head's keys (transposed, in panels) and values (rows without the
// gaps of packed QKV, whose stride of a multiple of 4 KiB would map all rows to the same few cache sets) unless it did so for its
// previous task. Then, for the block, in passes over some of the keys: their scores and the row maxima so far, panel by panel; after
// that, kKeyBlock keys at a time, what softmax makes of them and their part of the context, while both are in L1. When a later pass finds
// a larger score, what has been summed is scaled down to it (FlashAttention, arXiv 2205.14135). Rows do not touch each other, and
// passes depend on the number of keys only, so how rows are blocked and who computes them changes no bit.
#include "kernels/cpu/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention.cc"  // NOLINT
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/attention_tile-inl.h"
#include "kernels/cpu/gemm_pack-inl.h"
#include "kernels/cpu/math-inl.h"

#ifndef POINTMAP_KERNELS_CPU_ATTENTION_ONCE_
#define POINTMAP_KERNELS_CPU_ATTENTION_ONCE_
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tensor/tensor.h"

namespace pointmap::cpu {

// The keys and values of a pass (192 KiB for heads of 64) and the scores of a block (144 KiB) lie in L2 while the block's rows pass. On one
// thread of a Xeon with 2 MiB, in turns, GFLOP/s for 768, 1374, 2748, 6870 tokens: 155, 147, 146, 143 with AVX-512 (peak 225) and 98, 98,
// 96, 97 with AVX2 (peak 126); with one pass over all keys 151, 148, 145, 90 and 98, 97, 91, 52. Passes of 512 or 768 keys and blocks of
// 168 rows do the same but for 6870 tokens, where 768 keys give 125.
inline constexpr int64_t kMaxBlockRows = 96;
inline constexpr int64_t kMaxPassKeys = 384;

// Rows [first_row, first_row + num_rows) of a matrix, channels from `channel` on.
struct HeadRows {
  int64_t first_row, num_rows, channel;
};

struct AttentionPlan {
  AttentionInputs inputs;
  float* y = nullptr;
  int64_t batch = 0, num_queries = 0, num_keys = 0, head_dim = 0;
  int64_t padded_keys = 0, padded_dim = 0;
  int64_t num_passes = 1;
  int64_t score_stride = 0;  // floats between rows of scores
  int64_t block_rows = 0, blocks_per_head = 0;
  // Parts of a worker's scratch, in floats from its start; packed keys come first.
  int64_t values_at = 0;   // [num_keys, padded_dim]
  int64_t queries_at = 0;  // panels of kScoreRows
  int64_t scores_at = 0;   // [block_rows, score_stride]
  int64_t maxima_at = 0;   // [block_rows, lanes]
  int64_t sums_at = 0;     // [block_rows, lanes], of exponentials
  int64_t largest_at = 0;  // [block_rows], of all lanes
  int64_t weights_at = 0;  // [kScoreRows, kKeyBlock], exponentials of a tile
  int64_t context_at = 0;  // [block_rows, padded_dim]
  int64_t scratch_floats = 0;
};

}  // namespace pointmap::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {

constexpr int64_t kAlign = 16;  // floats in a cache line and in the longest vector

int64_t round_up(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

// Keys [begin, end) of a pass: whole blocks of kKeyBlock but at the end of all.
struct KeyRange {
  int64_t begin, end;
};
KeyRange keys_of_pass(const AttentionPlan& plan, int64_t pass) {
  const int64_t num_blocks = (plan.num_keys + kKeyBlock - 1) / kKeyBlock;
  const auto at = [&](int64_t part) { return std::min(num_blocks * part / plan.num_passes * kKeyBlock, plan.num_keys); };
  return {at(pass), at(pass + 1)};
}

// Sizes that depend on the instruction set.
void plan_for_target(AttentionPlan& plan) {
  plan.padded_keys = round_up(plan.num_keys, kScoreWidth);
  plan.padded_dim = round_up(plan.head_dim, kContextWidth);
  plan.num_passes = (plan.num_keys + kMaxPassKeys - 1) / kMaxPassKeys;
  int64_t pass_keys = 0;
  for (int64_t pass = 0; pass < plan.num_passes; ++pass) {
    const KeyRange keys = keys_of_pass(plan, pass);
    pass_keys = std::max(pass_keys, round_up(keys.end - keys.begin, kScoreWidth));
  }
  plan.block_rows = std::min(kMaxBlockRows / kScoreRows * kScoreRows, round_up(plan.num_queries, kScoreRows));
  plan.blocks_per_head = (plan.num_queries + plan.block_rows - 1) / plan.block_rows;
  // An odd number of cache lines, so that the rows of a tile do not fall into one set of L1.
  plan.score_stride = (round_up(pass_keys, kAlign) / kAlign | 1) * kAlign;
  int64_t next = 0;
  const auto place = [&next](int64_t floats) {
    const int64_t at = next;
    next += round_up(floats, kAlign);
    return at;
  };
  place(plan.padded_keys * plan.head_dim);
  plan.values_at = place(plan.num_keys * plan.padded_dim);
  plan.queries_at = place(plan.block_rows * plan.head_dim + kPackSlack);
  plan.scores_at = place(plan.block_rows * plan.score_stride);
  plan.maxima_at = place(plan.block_rows * kAttentionLanes);
  plan.sums_at = place(plan.block_rows * kAttentionLanes);
  plan.largest_at = place(plan.block_rows);
  plan.weights_at = place(kScoreRows * kKeyBlock);
  plan.context_at = place(plan.block_rows * plan.padded_dim);
  plan.scratch_floats = next;
}

// Rows of one head of x into panels [ceil(num_rows / kRows)][head_dim][kRows]. The last row is repeated to fill the last panel: as a
// key, it does not change the largest score.
template <int kRows>
void pack_panels(const TensorView& x, HeadRows head, int64_t head_dim, float* HWY_RESTRICT panels) {
  const float* const first = x.data<float>() + head.first_row * x.row_stride() + head.channel;
  const float* rows[kRows];
  for (int64_t begin = 0; begin < head.num_rows; begin += kRows) {
    for (int64_t i = 0; i < kRows; ++i) {
      rows[i] = first + std::min(begin + i, head.num_rows - 1) * x.row_stride();
      const float* const later = first + std::min(begin + kRows + i, head.num_rows - 1) * x.row_stride();
      for (int64_t c = 0; c < head_dim; c += kAlign) hwy::Prefetch(later + c);
    }
    pack_transposed<kRows>(rows, head_dim, false, panels + begin * head_dim);
  }
}

// values [num_keys][padded_dim], zero beyond head_dim.
constexpr int64_t kPrefetchRows = 16;  // rows lie a page or more apart, where the processor does not prefetch by itself
void pack_values(const AttentionPlan& plan, int64_t image, int64_t channel, float* HWY_RESTRICT values) {
  const TensorView& v = plan.inputs.v;
  for (int64_t j = 0; j < plan.num_keys; ++j) {
    const float* from = v.data<float>() + (image * plan.num_keys + j) * v.row_stride() + channel;
    const float* later = from + std::min(kPrefetchRows, plan.num_keys - 1 - j) * v.row_stride();
    for (int64_t c = 0; c < plan.head_dim; c += kAlign) hwy::Prefetch(later + c);
    std::copy_n(from, plan.head_dim, values + j * plan.padded_dim);
    std::fill_n(values + j * plan.padded_dim + plan.head_dim, plan.padded_dim - plan.head_dim, 0.0f);
  }
}

// weights[j] = 2^(base2_scale (scores[j] - max)) for num_keys keys; adds them to sums [lanes], one lane each. Subtracted before scaled:
// the error is relative to the difference, which is small where the weight is large, and the exponent is never above 0.
void exponentials(const float* HWY_RESTRICT scores, int64_t num_keys, float max, float base2_scale, float* HWY_RESTRICT weights,
                  float* HWY_RESTRICT sums) {
  const hn::ScalableTag<float> d;
  const auto max_of_row = hn::Set(d, max), scale = hn::Set(d, base2_scale);
  auto sum = hn::Zero(d);
  int64_t j = 0;
  for (; j + kAttentionLanes <= num_keys; j += kAttentionLanes) {
    const auto weight = exp2_of_non_positive(d, hn::Mul(scale, hn::Sub(hn::Load(d, scores + j), max_of_row)));
    hn::Store(weight, d, weights + j);
    sum = hn::Add(sum, weight);
  }
  if (j < num_keys) {  // what lies beyond meets no value: it only has to stay out of the sum
    const auto weight = exp2_of_non_positive(d, hn::Mul(scale, hn::Sub(hn::Load(d, scores + j), max_of_row)));
    hn::Store(weight, d, weights + j);
    sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(num_keys - j)), weight));
  }
  hn::Store(hn::Add(hn::Load(d, sums), sum), d, sums);
}

// to[c] = from[c] / divisor.
void divide_row(const float* HWY_RESTRICT from, float divisor, int64_t num_channels, float* HWY_RESTRICT to) {
  const hn::ScalableTag<float> d;
  const auto divisors = hn::Set(d, divisor);
  int64_t c = 0;
  for (; c + kAttentionLanes <= num_channels; c += kAttentionLanes) hn::StoreU(hn::Div(hn::Load(d, from + c), divisors), d, to + c);
  for (; c < num_channels; ++c) to[c] = from[c] / divisor;
}

float largest_lane(const float* lanes) {
  const hn::ScalableTag<float> d;
  return hn::GetLane(hn::MaxOfLanes(d, hn::Load(d, lanes)));
}

float sum_of_lanes(const float* lanes) {
  const hn::ScalableTag<float> d;
  return hn::GetLane(hn::SumOfLanes(d, hn::Load(d, lanes)));
}

// Scores of the pass's keys, and maxima of all keys so far.
void scores_of_pass(const AttentionPlan& plan, KeyRange keys, int64_t tile_rows, float* scratch) {
  for (int64_t panel = keys.begin; panel < keys.end; panel += kScoreWidth) {
    for (int64_t i = 0; i < tile_rows; i += kScoreRows) {
      score_tile(scratch + plan.queries_at + i * plan.head_dim, scratch + panel * plan.head_dim, plan.head_dim,
                 scratch + plan.scores_at + i * plan.score_stride + panel - keys.begin, plan.score_stride,
                 scratch + plan.maxima_at + i * kAttentionLanes);
    }
  }
}

// to[c] *= factor.
void scale_row(float* HWY_RESTRICT to, float factor, int64_t num_channels) {
  const hn::ScalableTag<float> d;
  const auto factors = hn::Set(d, factor);
  for (int64_t c = 0; c < num_channels; c += kAttentionLanes) hn::Store(hn::Mul(hn::Load(d, to + c), factors), d, to + c);
}

// Takes over the largest score so far of every row; what was summed relative to a smaller one is scaled down to it.
void raise_largest(const AttentionPlan& plan, float base2_scale, int64_t tile_rows, float* scratch) {
  const hn::ScalableTag<float> d;
  for (int64_t i = 0; i < tile_rows; ++i) {
    float& largest = scratch[plan.largest_at + i];
    const float before = largest;
    largest = largest_lane(scratch + plan.maxima_at + i * kAttentionLanes);
    if (!(largest > before)) continue;
    float *const sums = scratch + plan.sums_at + i * kAttentionLanes, *const context = scratch + plan.context_at + i * plan.padded_dim;
    if (before == -std::numeric_limits<float>::infinity()) {  // nothing yet, or keys of no weight at all
      std::fill_n(sums, kAttentionLanes, 0.0f);
      std::fill_n(context, plan.padded_dim, 0.0f);
      continue;
    }
    const float factor = hn::GetLane(exp2_of_non_positive(d, hn::Set(d, base2_scale * (before - largest))));
    scale_row(sums, factor, kAttentionLanes);
    scale_row(context, factor, plan.padded_dim);
  }
}

void context_of_pass(const AttentionPlan& plan, KeyRange keys, int64_t tile_rows, float* scratch) {
  const auto base2_scale = static_cast<float>(std::abs(plan.inputs.scale) * 1.4426950408889634);  // e^x = 2^(x log2 e)
  raise_largest(plan, base2_scale, tile_rows, scratch);
  const float* const largest = scratch + plan.largest_at;
  float* const weights = scratch + plan.weights_at;
  for (int64_t key = keys.begin; key < keys.end; key += kKeyBlock) {
    const int64_t num_keys = std::min(kKeyBlock, keys.end - key);
    for (int64_t tile = 0; tile < tile_rows; tile += kScoreRows) {
      for (int64_t i = 0; i < kScoreRows; ++i) {
        exponentials(scratch + plan.scores_at + (tile + i) * plan.score_stride + key - keys.begin, num_keys, largest[tile + i], base2_scale,
                     weights + i * kKeyBlock, scratch + plan.sums_at + (tile + i) * kAttentionLanes);
      }
      for (int64_t i = 0; i < kScoreRows; i += kContextRows) {
        for (int64_t c = 0; c < plan.padded_dim; c += kContextWidth) {
          context_tile(weights + i * kKeyBlock, scratch + plan.values_at + key * plan.padded_dim + c, num_keys,
                       scratch + plan.context_at + (tile + i) * plan.padded_dim + c, plan.padded_dim);
        }
      }
    }
  }
}

// packed_head: whose keys and values `scratch` holds, or -1.
void attend_block(const AttentionPlan& plan, int64_t task, float* scratch, int64_t& packed_head) {
  const int64_t head = task / plan.blocks_per_head, block = task % plan.blocks_per_head;  // head counts through the batch
  const int64_t image = head / plan.inputs.num_heads, channel = head % plan.inputs.num_heads * plan.head_dim;
  if (packed_head != head) {
    pack_panels<kScoreWidth>(plan.inputs.k, {image * plan.num_keys, plan.num_keys, channel}, plan.head_dim, scratch);
    pack_values(plan, image, channel, scratch + plan.values_at);
    packed_head = head;
  }
  const int64_t first_row = image * plan.num_queries + block * plan.block_rows;
  const int64_t num_rows = std::min(plan.block_rows, plan.num_queries - block * plan.block_rows);
  const int64_t tile_rows = round_up(num_rows, kScoreRows);  // rows beyond num_rows are copies, and dropped
  pack_panels<kScoreRows>(plan.inputs.q, {first_row, num_rows, channel}, plan.head_dim, scratch + plan.queries_at);
  if (plan.inputs.scale < 0) {  // so that the largest score of a row is the largest exponent too
    for (int64_t i = 0; i < tile_rows * plan.head_dim; ++i) scratch[plan.queries_at + i] = -scratch[plan.queries_at + i];
  }
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  std::fill_n(scratch + plan.maxima_at, tile_rows * kAttentionLanes, kNone);
  std::fill_n(scratch + plan.largest_at, tile_rows, kNone);
  std::fill_n(scratch + plan.sums_at, tile_rows * kAttentionLanes, 0.0f);
  std::fill_n(scratch + plan.context_at, tile_rows * plan.padded_dim, 0.0f);
  for (int64_t pass = 0; pass < plan.num_passes; ++pass) {
    const KeyRange keys = keys_of_pass(plan, pass);
    scores_of_pass(plan, keys, tile_rows, scratch);
    context_of_pass(plan, keys, tile_rows, scratch);
  }
  for (int64_t i = 0; i < num_rows; ++i) {
    divide_row(scratch + plan.context_at + i * plan.padded_dim, sum_of_lanes(scratch + plan.sums_at + i * kAttentionLanes), plan.head_dim,
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
