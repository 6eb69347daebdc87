// The two register tiles of attention: scores (Q K^T) and context (P V). Included once per instruction set, see attention.cc.
#if defined(POINTMAP_KERNELS_CPU_ATTENTION_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POINTMAP_KERNELS_CPU_ATTENTION_TILE_INL_H_
#undef POINTMAP_KERNELS_CPU_ATTENTION_TILE_INL_H_
#else
#define POINTMAP_KERNELS_CPU_ATTENTION_TILE_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int64_t kAttentionLanes = HWY_LANES(float);
inline constexpr int64_t kScoreWidth = 2 * kAttentionLanes;  // keys of a score tile

// Accumulators fill the registers but for a vector or two of K or V and one broadcast of Q or P. Rows of P lie far apart and each
// needs a pointer, so the context tile is low and wide where registers allow it. A score tile is whole context tiles.
#if HWY_TARGET == HWY_SCALAR
inline constexpr int64_t kScoreRows = 4;
inline constexpr int64_t kContextRows = 4;
inline constexpr int64_t kContextVectors = 2;
#elif HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
inline constexpr int64_t kScoreRows = 6;  // 16 registers
inline constexpr int64_t kContextRows = 6;
inline constexpr int64_t kContextVectors = 2;
#else
inline constexpr int64_t kScoreRows = 12;  // 32 registers
inline constexpr int64_t kContextRows = 6;
inline constexpr int64_t kContextVectors = 4;
#endif
static_assert(kScoreRows % kContextRows == 0);
// Probabilities times values are summed over this many keys in registers before they join the sum in memory: one chain over all
// keys would cost accuracy. 96 rows of 64 values are 24 KiB, which stay in an L1 of 32 while the rows of the block pass.
inline constexpr int64_t kKeyBlock = 96;
static_assert(kKeyBlock % kScoreWidth == 0);
inline constexpr int64_t kContextWidth = kContextVectors * kAttentionLanes;  // channels of a context tile

// scores[i * score_stride + j] = sum over c of q[c][i] k[c][j]: q [head_dim, kScoreRows], k [head_dim, kScoreWidth]. Keeps the largest
// so far of each row and lane in maxima [kScoreRows, kAttentionLanes].
inline HWY_NOINLINE void score_tile(const float* HWY_RESTRICT q, const float* HWY_RESTRICT k, int64_t head_dim, float* HWY_RESTRICT scores,
                                    int64_t score_stride, float* HWY_RESTRICT maxima) {
  const hn::ScalableTag<float> d;
  hn::Vec<decltype(d)> sums[kScoreRows][2];
#pragma GCC unroll 16
  for (int64_t i = 0; i < kScoreRows; ++i) sums[i][0] = sums[i][1] = hn::Zero(d);
  for (int64_t c = 0; c < head_dim; ++c) {
    const auto k0 = hn::Load(d, k);
    const auto k1 = hn::Load(d, k + kAttentionLanes);
#pragma GCC unroll 16
    for (int64_t i = 0; i < kScoreRows; ++i) {
      const auto q_i = hn::Set(d, q[i]);
      sums[i][0] = hn::MulAdd(q_i, k0, sums[i][0]);
      sums[i][1] = hn::MulAdd(q_i, k1, sums[i][1]);
    }
    q += kScoreRows;
    k += kScoreWidth;
  }
#pragma GCC unroll 16
  for (int64_t i = 0; i < kScoreRows; ++i) {
    hn::Store(sums[i][0], d, scores + i * score_stride);
    hn::Store(sums[i][1], d, scores + i * score_stride + kAttentionLanes);
    float* HWY_RESTRICT largest = maxima + i * kAttentionLanes;
    hn::Store(hn::Max(hn::Load(d, largest), hn::Max(sums[i][0], sums[i][1])), d, largest);
  }
}

// context[i * stride + c] += sum over j of p[i][j] v[j * stride + c], for kContextRows rows of p [kContextRows, kKeyBlock] and
// kContextWidth channels.
inline HWY_NOINLINE void context_tile(const float* HWY_RESTRICT p, const float* HWY_RESTRICT v, int64_t num_keys,
                                      float* HWY_RESTRICT context, int64_t stride) {
  const hn::ScalableTag<float> d;
  hn::Vec<decltype(d)> sums[kContextRows][kContextVectors];
#pragma GCC unroll 16
  for (int64_t i = 0; i < kContextRows; ++i) {
#pragma GCC unroll 4
    for (int64_t n = 0; n < kContextVectors; ++n) sums[i][n] = hn::Zero(d);
  }
  for (int64_t j = 0; j < num_keys; ++j) {
    hn::Vec<decltype(d)> v_j[kContextVectors];
#pragma GCC unroll 4
    for (int64_t n = 0; n < kContextVectors; ++n) v_j[n] = hn::Load(d, v + n * kAttentionLanes);
#pragma GCC unroll 16
    for (int64_t i = 0; i < kContextRows; ++i) {
      const auto p_i = hn::Set(d, p[i * kKeyBlock + j]);
#pragma GCC unroll 4
      for (int64_t n = 0; n < kContextVectors; ++n) sums[i][n] = hn::MulAdd(p_i, v_j[n], sums[i][n]);
    }
    v += stride;
  }
#pragma GCC unroll 16
  for (int64_t i = 0; i < kContextRows; ++i) {
#pragma GCC unroll 4
    for (int64_t n = 0; n < kContextVectors; ++n) {
      float* HWY_RESTRICT to = context + i * stride + n * kAttentionLanes;
      hn::Store(hn::Add(hn::Load(d, to), sums[i][n]), d, to);
    }
  }
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
