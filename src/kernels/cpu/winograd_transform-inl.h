// The transforms of patches into points and of points into outputs. Included once per instruction set, see winograd.cc.
#if defined(POINTMAP_KERNELS_CPU_WINOGRAD_TRANSFORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POINTMAP_KERNELS_CPU_WINOGRAD_TRANSFORM_INL_H_
#undef POINTMAP_KERNELS_CPU_WINOGRAD_TRANSFORM_INL_H_
#else
#define POINTMAP_KERNELS_CPU_WINOGRAD_TRANSFORM_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/cpu/gemm_tile-inl.h"
#include "kernels/cpu/winograd_points.h"

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {

HWY_INLINE VF constant(double value) {
  return hn::Set(DF(), static_cast<float>(value));
}

// p = B^T d in one direction. Row i of B^T are the coefficients of the product of (x - q) over the finite points q other than the
// i-th; of a pair of points +-q the even powers are the same and the odd ones differ in sign.
HWY_INLINE void to_points(const VF (&d)[kPatchSide], VF (&p)[kPatchSide]) {
  constexpr double kA2 = kPointA * kPointA, kB2 = kPointB * kPointB;
  const VF sum = constant(kA2 + kB2), product = constant(kA2 * kB2);
  p[0] = hn::NegMulAdd(sum, d[2], hn::MulAdd(product, d[0], d[4]));
  p[5] = hn::NegMulAdd(sum, d[3], hn::MulAdd(product, d[1], d[5]));
  const VF even_a = hn::NegMulAdd(constant(kB2), d[2], d[4]), odd_a = hn::NegMulAdd(constant(kB2), d[1], d[3]);
  p[1] = hn::MulAdd(constant(kPointA), odd_a, even_a);
  p[2] = hn::NegMulAdd(constant(kPointA), odd_a, even_a);
  const VF even_b = hn::NegMulAdd(constant(kA2), d[2], d[4]), odd_b = hn::NegMulAdd(constant(kA2), d[1], d[3]);
  p[3] = hn::MulAdd(constant(kPointB), odd_b, even_b);
  p[4] = hn::NegMulAdd(constant(kPointB), odd_b, even_b);
}

// y = A^T m in one direction. Column i of A^T are the powers of the i-th point.
HWY_INLINE void to_outputs(const VF (&m)[kPatchSide], VF (&y)[kTileSide]) {
  constexpr double kA2 = kPointA * kPointA, kB2 = kPointB * kPointB;
  const VF even_a = hn::Add(m[1], m[2]), odd_a = hn::Sub(m[1], m[2]);
  const VF even_b = hn::Add(m[3], m[4]), odd_b = hn::Sub(m[3], m[4]);
  y[0] = hn::Add(m[0], hn::Add(even_a, even_b));
  y[1] = hn::MulAdd(constant(kPointA), odd_a, hn::Mul(constant(kPointB), odd_b));
  y[2] = hn::MulAdd(constant(kA2), even_a, hn::Mul(constant(kB2), even_b));
  y[3] = hn::MulAdd(constant(kA2 * kPointA), odd_a, hn::MulAdd(constant(kB2 * kPointB), odd_b, m[5]));
}

// The pixels of a patch, each kLanes channels from `channel` on, into 36 points, point_pitch floats apart.
template <bool kRelu>
HWY_INLINE void transform_patch(const float* const (&pixels)[kNumPoints], int64_t channel, int64_t point_pitch, float* HWY_RESTRICT to) {
  const DF d;
  VF lines[kPatchSide][kPatchSide];
#pragma GCC unroll 6
  for (int y = 0; y < kPatchSide; ++y) {
    VF line[kPatchSide];
#pragma GCC unroll 6
    for (int x = 0; x < kPatchSide; ++x) {
      line[x] = hn::LoadU(d, pixels[y * kPatchSide + x] + channel);
      if constexpr (kRelu) line[x] = hn::Max(line[x], hn::Zero(d));
    }
    to_points(line, lines[y]);
  }
#pragma GCC unroll 6
  for (int x = 0; x < kPatchSide; ++x) {
    const VF column[kPatchSide] = {lines[0][x], lines[1][x], lines[2][x], lines[3][x], lines[4][x], lines[5][x]};
    VF points[kPatchSide];
    to_points(column, points);
#pragma GCC unroll 6
    for (int y = 0; y < kPatchSide; ++y) hn::Store(points[y], d, to + (y * kPatchSide + x) * point_pitch);
  }
}

// 36 points of kLanes output channels, point_pitch floats apart, into the pixels of a tile.
HWY_INLINE void transform_sums(const float* HWY_RESTRICT sums, int64_t point_pitch, VF (&tile)[kTileSide][kTileSide]) {
  const DF d;
  VF columns[kPatchSide][kTileSide];
#pragma GCC unroll 6
  for (int x = 0; x < kPatchSide; ++x) {
    VF points[kPatchSide];
#pragma GCC unroll 6
    for (int y = 0; y < kPatchSide; ++y) points[y] = hn::Load(d, sums + (y * kPatchSide + x) * point_pitch);
    to_outputs(points, columns[x]);
  }
#pragma GCC unroll 4
  for (int y = 0; y < kTileSide; ++y) {
    const VF line[kPatchSide] = {columns[0][y], columns[1][y], columns[2][y], columns[3][y], columns[4][y], columns[5][y]};
    to_outputs(line, tile[y]);
  }
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
