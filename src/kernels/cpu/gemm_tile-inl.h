// The register tile: the innermost loop of every product. Included once per instruction set, see gemm.cc.
#if defined(POINTMAP_KERNELS_CPU_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POINTMAP_KERNELS_CPU_GEMM_TILE_INL_H_
#undef POINTMAP_KERNELS_CPU_GEMM_TILE_INL_H_
#else
#define POINTMAP_KERNELS_CPU_GEMM_TILE_INL_H_
#endif

#include <cstdint>
#include <utility>

#include "hwy/highway.h"
#include "kernels/cpu/gemm_plan.h"

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;
inline constexpr int64_t kLanes = HWY_LANES(float);

// Rows of the tile: as many accumulators as the registers hold next to two vectors of W and one broadcast of A.
inline constexpr int kTileVectors = 2;
#if HWY_TARGET <= HWY_AVX3
inline constexpr int kTileRows = 14;  // 28 of 32 registers
#elif HWY_TARGET == HWY_SCALAR
inline constexpr int kTileRows = 4;
#elif HWY_ARCH_X86
inline constexpr int kTileRows = 6;  // 12 of 16 registers
#else
inline constexpr int kTileRows = 12;  // 24 of 32 registers
#endif
inline constexpr int64_t kPanelWidth = kTileVectors * kLanes;

// Products summed in registers before they join the sum in memory. Relative RMS error at K = 4096 for chunks of 64, 128, 256 and
// all: 2.1e-7, 2.3e-7, 3.0e-7, 11.6e-7 (OpenBLAS and oneDNN 3.6e-7); mean speed in alternate runs 157, 165, 164, 161 GFLOP/s.
// A multiple of 4 keeps the unrolled loop whole.
inline constexpr int64_t kDepthChunk = 128;

// One step of a tile: sums[i][n] (+)= sum over k of a[k][i] w[k][n] for the tile's rows i. A lies in groups of kGroup depths, within
// which a row's values are neighbours: a group of one is what packing by transposition makes, a group of a vector what can be
// stored without transposing.
struct TileStep {
  const float* a = nullptr;  // [depth / kGroup, kTileRows, kGroup]
  const float* w = nullptr;  // [depth, kPanelWidth]
  int64_t depth = 0;
  float* sums = nullptr;  // [kTileRows, kPanelWidth]
  bool first = true;      // write sums instead of adding to them
  // The next step's rows of A, which come into L1 meanwhile: without it a step begins with misses (80 and 85 % of peak at K = 4096).
  const float* next_a = nullptr;
  // What the core will need next from far away, in steps of prefetch_floats per two k: weights are read once per block of rows and
  // come from L3 or memory. With this 87 % of peak instead of 65 % where they do; lines asked for twice cost nothing.
  const float* prefetch = nullptr;
  int64_t prefetch_floats = 0;
};

template <int kRows, int kGroup>
HWY_INLINE void multiply_one_k(const float* HWY_RESTRICT a, const float* HWY_RESTRICT w, VF (&acc)[kRows][kTileVectors]) {
  const DF d;
  const VF w0 = hn::Load(d, w);
  const VF w1 = hn::Load(d, w + kLanes);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    const VF a_i = hn::Set(d, a[i * kGroup]);
    acc[i][0] = hn::MulAdd(a_i, w0, acc[i][0]);
    acc[i][1] = hn::MulAdd(a_i, w1, acc[i][1]);
  }
}

// One template per number of rows: a loop bound read at run time would push the accumulators out of the registers.
// kGroup is 1, or divides the depth and is a multiple of 4.
template <int kRows, int kGroup>
HWY_NOINLINE void multiply_tile(const TileStep& step) {
  const DF d;
  VF acc[kRows][kTileVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) acc[i][0] = acc[i][1] = hn::Zero(d);
  const float* HWY_RESTRICT a = step.a;
  const float* HWY_RESTRICT w = step.w;
  const float* prefetch = step.prefetch;
  const float* next_a = step.next_a;
  constexpr int kDepthsPerLineOfA = 4 * kTileRows >= 2 * kFloatsPerLine ? 1 : 2;  // at most: a line has 1.1 of 14 rows, 2.7 of 6
  int64_t k = step.depth;
  constexpr int64_t kStepOfA = kGroup == 1 ? kTileRows : 1;
  for (; k >= 4; k -= 4) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      if (j % kDepthsPerLineOfA == 0) __builtin_prefetch(next_a + j * kTileRows, 0, 3);
      if (j % 2 == 0) {
        __builtin_prefetch(prefetch, 0, 2);  // into L2, not L1
        prefetch += step.prefetch_floats;
      }
      multiply_one_k<kRows, kGroup>(a + j * kStepOfA, w + j * kPanelWidth, acc);
    }
    a += 4 * kStepOfA;
    w += 4 * kPanelWidth;
    next_a += 4 * kTileRows;
    if (kGroup > 1 && (k - 4) % kGroup == 0) a += (kTileRows - 1) * kGroup;  // the group ends here: k counts down to 0
  }
  for (; k > 0; --k, a += kTileRows, w += kPanelWidth) multiply_one_k<kRows, kGroup>(a, w, acc);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    float* HWY_RESTRICT to = step.sums + i * kPanelWidth;
    if (!step.first) {
      acc[i][0] = hn::Add(hn::Load(d, to), acc[i][0]);
      acc[i][1] = hn::Add(hn::Load(d, to + kLanes), acc[i][1]);
    }
    hn::Store(acc[i][0], d, to);
    hn::Store(acc[i][1], d, to + kLanes);
  }
}

using MultiplyTile = void (*)(const TileStep&);

template <int kGroup, int... kRowsMinus1>
constexpr MultiplyTile choose_tile(int64_t rows, std::integer_sequence<int, kRowsMinus1...>) {
  constexpr MultiplyTile kTiles[] = {multiply_tile<kRowsMinus1 + 1, kGroup>...};
  return kTiles[rows - 1];
}

// The tile for 1 to kTileRows rows.
template <int kGroup>
inline MultiplyTile tile_for(int64_t rows) {
  return choose_tile<kGroup>(rows, std::make_integer_sequence<int, kTileRows>());
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
