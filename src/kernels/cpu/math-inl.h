// Vector exp2, exp, expm1, SiLU and GELU: Highway 1.0.3 has none. Accurate to a few float steps over all of float, on targets with and
// without FMA. Included once per target (Highway's convention for -inl.h files), from inside or before HWY_BEFORE_NAMESPACE.
//
// The polynomials are minimax fits (Lawson's reweighted least squares on 400 Chebyshev nodes against 40-digit values), rounded to
// float; the comments give the error of the fit before rounding.
#if defined(POINTMAP_KERNELS_CPU_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POINTMAP_KERNELS_CPU_MATH_INL_H_
#undef POINTMAP_KERNELS_CPU_MATH_INL_H_
#else
#define POINTMAP_KERNELS_CPU_MATH_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 1.5 * 2^23: x + kRoundingShift holds round(x) in its low mantissa bits for |x| < 2^22, and the shift by 23 moves those bits, and
// nothing else, into the exponent field.
inline constexpr float kRoundingShift = 12582912.0f;

// Adds n to the exponent of v, where n is in the low bits of shifted = x + kRoundingShift.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V scale_by_shifted(D d, V v, V shifted) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::Add(hn::BitCast(di, v), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

// max(x, low) and min(x, high), but NaN stays. x86 returns the second operand when one is NaN, NEON returns NaN; the plain C++
// targets return the other operand.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_least(D d, V x, float low) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, low)), hn::Set(d, low), x);
#else
  return hn::Max(hn::Set(d, low), x);
#endif
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_most(D d, V x, float high) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, high)), hn::Set(d, high), x);
#else
  return hn::Min(hn::Set(d, high), x);
#endif
}

// 2^x for x <= 0, within 1 ulp; below -126 it gives 2^-126, which is nothing beside the 1 that a softmax row contains. NaN stays.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_of_non_positive(D d, V x) {
  x = at_least(d, x, -126.0f);
  const V shifted = hn::Add(x, hn::Set(d, kRoundingShift));
  const V r = hn::Sub(x, hn::Sub(shifted, hn::Set(d, kRoundingShift)));  // exact, in [-1/2, 1/2]
  V p = hn::Set(d, 1.53458124e-4f);                                      // 2^r to 1.9e-9
  p = hn::MulAdd(p, r, hn::Set(d, 1.33999309e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 9.61848907e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 5.55032864e-2f));
  p = hn::MulAdd(p, r, hn::Set(d, 2.40226462e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 6.93147182e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  return scale_by_shifted(d, p, shifted);
}

// r = y - n ln 2 with n = round(y / ln 2): ln 2 in two parts, the first of 15 bits, so that n times it is exact without FMA too.
// shifted carries n, see kRoundingShift.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V reduce_by_ln2(D d, V y, V& shifted) {
  shifted = hn::MulAdd(y, hn::Set(d, 1.44269504f), hn::Set(d, kRoundingShift));
  const V n = hn::Sub(shifted, hn::Set(d, kRoundingShift));
  return hn::NegMulAdd(n, hn::Set(d, 1.42860677e-6f), hn::NegMulAdd(n, hn::Set(d, 0.693145752f), y));
}

// e^r - 1 for |r| <= ln 2 / 2, relative error of the fit 2.4e-10.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V expm1_of_reduced(D d, V r) {
  V p = hn::Set(d, 1.98458773e-4f);
  p = hn::MulAdd(p, r, hn::Set(d, 1.39406277e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 8.33338965e-3f));
  p = hn::MulAdd(p, r, hn::Set(d, 4.16663624e-2f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.66666657e-1f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5f));
  return hn::MulAdd(p, hn::Mul(r, r), r);
}

// e^x - 1 within 2 ulp for all x: relatively accurate near 0, infinity from 88.73 on, -1 below -17.4. NaN stays.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vector_expm1(D d, V x) {
  x = at_most(d, at_least(d, x, -30.0f), 89.0f);
  V shifted;
  const V p = expm1_of_reduced(d, reduce_by_ln2(d, x, shifted));
  // 2^n (1 + p) - 1 by halves, since 2^128 is no float: 2 (2^(n-1) p + (2^(n-1) - 1/2)).
  const V half_scale = scale_by_shifted(d, hn::Set(d, 0.5f), shifted);
  const V half = hn::MulAdd(half_scale, p, hn::Sub(half_scale, hn::Set(d, 0.5f)));
  return hn::Add(half, half);
}

// e^x within 2 ulp, from 88.73 on infinity; below -86 it stays e^-86 = 4.5e-38, since 2^n must be a normal float. NaN stays.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vector_exp(D d, V x) {
  x = at_most(d, at_least(d, x, -86.0f), 89.0f);
  V shifted;
  const V p = expm1_of_reduced(d, reduce_by_ln2(d, x, shifted));
  const V half_scale = scale_by_shifted(d, hn::Set(d, 0.5f), shifted);  // by halves, since 2^128 is no float
  const V half = hn::MulAdd(half_scale, p, half_scale);
  return hn::Add(half, half);
}

// x / (1 + e^-x) from e^-|x|, which is at most 1: x e^x / (1 + e^x) for x < 0 keeps its digits in the tail. NaN stays.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vector_silu(D d, V x) {
  const V e = vector_exp(d, hn::Neg(hn::Abs(x)));
  const V one = hn::Set(d, 1.0f);
  const V numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
  return hn::Div(hn::Mul(x, numerator), hn::Add(one, e));
}

// x Phi(x) with the normal distribution Phi: GELU in its exact form, x/2 (1 + erf(x / sqrt 2)). Within 4 ulp for x < 0, where 1 + erf
// would cancel, and 3 ulp for x > 0; results below the normal floats lose digits and become -0 below x = -13.2. NaN stays.
//
// With t = |x|, Phi(-t) = e^(-t^2/2) g(t); g is smooth and falls like 1/t, a quotient of polynomials to 5e-9 on [0, 13.3].
template <class D, class V = hn::Vec<D>>
HWY_INLINE V vector_gelu(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const V t = hn::Min(hn::Abs(x), hn::Set(d, 13.25f));
  // t^2 = square + rest exactly enough: the upper 12 bits squared are exact, and a relative error of t^2 / 2 = 80 would be 80 times
  // as large in its exponential.
  const V upper = hn::And(t, hn::BitCast(d, hn::Set(du, 0xFFFFF000u)));
  const V square = hn::Mul(upper, upper);
  const V rest = hn::Mul(hn::Sub(t, upper), hn::Add(t, upper));
  const V minus_half = hn::Set(d, -0.5f);
  V shifted;
  const V r = hn::MulAdd(rest, minus_half, reduce_by_ln2(d, hn::Mul(square, minus_half), shifted));
  const V exponential = hn::Add(expm1_of_reduced(d, r), hn::Set(d, 1.0f));

  V numerator = hn::Set(d, 0.0040201745f);
  numerator = hn::MulAdd(numerator, t, hn::Set(d, 0.0399840698f));
  numerator = hn::MulAdd(numerator, t, hn::Set(d, 0.181306466f));
  numerator = hn::MulAdd(numerator, t, hn::Set(d, 0.435685933f));
  numerator = hn::MulAdd(numerator, t, hn::Set(d, 0.5f));
  V denominator = hn::Set(d, 0.0100769401f);
  denominator = hn::MulAdd(denominator, t, hn::Set(d, 0.100232579f));
  denominator = hn::MulAdd(denominator, t, hn::Set(d, 0.464379549f));
  denominator = hn::MulAdd(denominator, t, hn::Set(d, 1.19448304f));
  denominator = hn::MulAdd(denominator, t, hn::Set(d, 1.66925681f));
  denominator = hn::MulAdd(denominator, t, hn::Set(d, 1.0f));

  const V power = scale_by_shifted(d, hn::Set(d, 1.0f), shifted);  // 2^n, n >= -126
  const V tail = hn::Mul(hn::Div(hn::Mul(exponential, numerator), denominator), power);
  const V tail_or_zero = hn::IfThenElseZero(hn::Lt(t, hn::Set(d, 13.2f)), tail);
  return hn::Mul(x, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail_or_zero, hn::Sub(hn::Set(d, 1.0f), tail_or_zero)));
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
