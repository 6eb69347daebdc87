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

// sums[i][n] (+)= sum over k of a[k][i] w[k][n] for i < kRows: a [depth, kTileRows], w [depth, kPanelWidth], sums [kTileRows,
// kPanelWidth], which is added to unless `first`. One template per number of rows: a loop bound read at run time would push
// the accumulators out of the registers.
template <int kRows>
HWY_NOINLINE void multiply_tile(const float* HWY_RESTRICT a, const float* HWY_RESTRICT w, int64_t depth, bool first,
                                float* HWY_RESTRICT sums) {
  const DF d;
  VF acc[kRows][kTileVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) acc[i][0] = acc[i][1] = hn::Zero(d);
#pragma GCC unroll 4
  for (int64_t k = 0; k < depth; ++k) {
    const VF w0 = hn::Load(d, w);
    const VF w1 = hn::Load(d, w + kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const VF a_i = hn::Set(d, a[i]);
      acc[i][0] = hn::MulAdd(a_i, w0, acc[i][0]);
      acc[i][1] = hn::MulAdd(a_i, w1, acc[i][1]);
    }
    a += kTileRows;
    w += kPanelWidth;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    float* HWY_RESTRICT to = sums + i * kPanelWidth;
    if (!first) {
      acc[i][0] = hn::Add(hn::Load(d, to), acc[i][0]);
      acc[i][1] = hn::Add(hn::Load(d, to + kLanes), acc[i][1]);
    }
    hn::Store(acc[i][0], d, to);
    hn::Store(acc[i][1], d, to + kLanes);
  }
}

using MultiplyTile = void (*)(const float*, const float*, int64_t, bool, float*);

template <int... kRowsMinus1>
constexpr MultiplyTile choose_tile(int64_t rows, std::integer_sequence<int, kRowsMinus1...>) {
  constexpr MultiplyTile kTiles[] = {multiply_tile<kRowsMinus1 + 1>...};
  return kTiles[rows - 1];
}

// The tile for 1 to kTileRows rows.
inline MultiplyTile tile_for(int64_t rows) {
  return choose_tile(rows, std::make_integer_sequence<int, kTileRows>());
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
