// Turning rows into panels, k slowest, which is what the register tile reads. Included once per instruction set, see gemm.cc.
#if defined(POINTMAP_KERNELS_CPU_GEMM_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POINTMAP_KERNELS_CPU_GEMM_PACK_INL_H_
#undef POINTMAP_KERNELS_CPU_GEMM_PACK_INL_H_
#else
#define POINTMAP_KERNELS_CPU_GEMM_PACK_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/cpu/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {

// Floats that pack_transposed may write beyond the end of its panel.
inline constexpr int64_t kPackSlack = kLanes;

#if HWY_TARGET != HWY_SCALAR
// columns[j], lane i = rows[i][k + j] for j < 4: transposes blocks of 4 x 4 inside the 128-bit parts of a vector. Lanes beyond
// kRows are arbitrary.
template <int kRows>
HWY_INLINE void load_four_columns(const float* const* rows, int64_t k, bool relu, VF columns[4]) {
  const DF d;
  const hn::Repartition<double, DF> d64;
  constexpr int kParts = kLanes / 4;
  VF quads[4];  // part p of quads[q] is row 4 p + q
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    quads[q] = hn::LoadDup128(d, rows[std::min(q, kRows - 1)] + k);
#pragma GCC unroll 4
    for (int p = 1; p < kParts; ++p) {
      if (4 * p + q >= kRows) continue;
      const auto first_parts = hn::FirstN(d, static_cast<size_t>(4 * p));
      quads[q] = hn::IfThenElse(first_parts, quads[q], hn::LoadDup128(d, rows[4 * p + q] + k));
    }
    if (relu) quads[q] = hn::Max(quads[q], hn::Zero(d));
  }
  const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, quads[0], quads[1]));
  const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, quads[2], quads[3]));
  const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, quads[0], quads[1]));
  const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, quads[2], quads[3]));
  columns[0] = hn::BitCast(d, hn::InterleaveLower(d64, low01, low23));
  columns[1] = hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23));
  columns[2] = hn::BitCast(d, hn::InterleaveLower(d64, high01, high23));
  columns[3] = hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23));
}
#endif

// panel[k * kRows + i] = rows[i][k] for k < count, or max(that, 0). Writes up to kPackSlack floats beyond: pack ascending.
template <int kRows>
HWY_INLINE void pack_transposed(const float* const* rows, int64_t count, bool relu, float* HWY_RESTRICT panel) {
  int64_t k = 0;
#if HWY_TARGET != HWY_SCALAR
  const DF d;
  constexpr int kGroups = static_cast<int>((kRows + kLanes - 1) / kLanes);
  constexpr int kLastRows = static_cast<int>(kRows - (kGroups - 1) * kLanes);
  for (; k + 4 <= count; k += 4) {
    VF columns[kGroups][4];
#pragma GCC unroll 4
    for (int g = 0; g < kGroups - 1; ++g) load_four_columns<static_cast<int>(kLanes)>(rows + g * kLanes, k, relu, columns[g]);
    load_four_columns<kLastRows>(rows + (kGroups - 1) * kLanes, k, relu, columns[kGroups - 1]);
    // Ascending addresses: what one store writes too much, the next one corrects.
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
#pragma GCC unroll 4
      for (int g = 0; g < kGroups; ++g) hn::StoreU(columns[g][j], d, panel + (k + j) * kRows + g * kLanes);
    }
  }
#endif
  for (; k < count; ++k) {
    for (int i = 0; i < kRows; ++i) {
      const float value = rows[i][k];
      panel[k * kRows + i] = relu ? std::max(value, 0.0f) : value;
    }
  }
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
