// Sixteen floats at a time. Vector extensions of GCC and clang rather than intrinsics: the code reads like scalar code and one source
// serves SSE2, AVX2 and AVX-512. Included inside a namespace per instruction set; everything is forced inline, so that nothing compiled
// for a newer processor can be linked into the code for an older one.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernel.h"

#define SG_INLINE static inline __attribute__((always_inline))

namespace pointmap::scene_gen::SG_TARGET {

typedef float F __attribute__((vector_size(4 * kLanes)));
typedef int32_t I __attribute__((vector_size(4 * kLanes)));  // also masks: -1 and 0
typedef uint32_t U __attribute__((vector_size(4 * kLanes)));

SG_INLINE F splat(float x) {
  return F{} + x;
}
SG_INLINE I splat_int(int x) {
  return I{} + x;
}
SG_INLINE F load(const float* from) {
  F result;
  __builtin_memcpy(&result, from, sizeof result);
  return result;
}
template <typename T>
SG_INLINE void store(T* to, const void* lanes_address) {
  __builtin_memcpy(to, lanes_address, 4 * kLanes);
}

SG_INLINE F select(I mask, F a, F b) {
  return mask ? a : b;
}
SG_INLINE I select_int(I mask, I a, I b) {
  return mask ? a : b;
}
SG_INLINE F min(F a, F b) {
  return a < b ? a : b;
}
SG_INLINE F max(F a, F b) {
  return a > b ? a : b;
}
SG_INLINE F abs(F a) {
  return (F)((I)a & 0x7fffffff);
}
SG_INLINE F clamp01(F a) {
  return min(max(a, splat(0)), splat(1));
}
SG_INLINE F to_float(I a) {
  return __builtin_convertvector(a, F);
}
SG_INLINE I floor_int(F a) {  // |a| < 2^31
  const I whole = __builtin_convertvector(a, I);
  return whole + (to_float(whole) > a);  // a true lane is -1
}

SG_INLINE F sqrt(F a) {
#if defined(__AVX512F__)
  return (F)_mm512_maskz_sqrt_ps(0xffff, (__m512)a);
#else
  F result;
  for (int lane = 0; lane < kLanes; ++lane) result[lane] = __builtin_sqrtf(a[lane]);
  return result;
#endif
}

// Bit i set where lane i of the mask is true.
SG_INLINE uint32_t mask_bits(I mask) {
#if defined(__AVX512DQ__)
  return _mm512_movepi32_mask((__m512i)mask);
#elif defined(__SSE2__)
  uint32_t bits = 0;
  for (int part = 0; part < 4; ++part) {
    __m128 quarter;
    __builtin_memcpy(&quarter, reinterpret_cast<const char*>(&mask) + 16 * part, 16);
    bits |= static_cast<uint32_t>(_mm_movemask_ps(quarter)) << (4 * part);
  }
  return bits;
#else
  uint32_t bits = 0;
  for (int lane = 0; lane < kLanes; ++lane) bits |= static_cast<uint32_t>(mask[lane] & 1) << lane;
  return bits;
#endif
}
SG_INLINE bool any(I mask) {
  return mask_bits(mask) != 0;
}

struct V {
  F x, y, z;
};

SG_INLINE V operator+(V a, V b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
SG_INLINE V operator-(V a, V b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
SG_INLINE V operator*(V a, F s) {
  return {a.x * s, a.y * s, a.z * s};
}
SG_INLINE V operator*(V a, V b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z};
}
SG_INLINE V splat(Vec3 a) {
  return {splat(a.x), splat(a.y), splat(a.z)};
}
SG_INLINE F dot(V a, V b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
SG_INLINE F dot(Vec3 a, V b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
SG_INLINE V mix(V a, V b, F t) {
  return a + (b - a) * t;
}
SG_INLINE F mix(F a, F b, F t) {
  return a + (b - a) * t;
}
SG_INLINE V select(I mask, V a, V b) {
  return {select(mask, a.x, b.x), select(mask, a.y, b.y), select(mask, a.z, b.z)};
}
SG_INLINE V rotate(const Rotation& r, V v) {
  return {dot(r.row0, v), dot(r.row1, v), dot(r.row2, v)};
}
SG_INLINE V rotate_back(const Rotation& r, V v) {
  return {v.x * r.row0.x + v.y * r.row1.x + v.z * r.row2.x, v.x * r.row0.y + v.y * r.row1.y + v.z * r.row2.y,
          v.x * r.row0.z + v.y * r.row1.z + v.z * r.row2.z};
}

}  // namespace pointmap::scene_gen::SG_TARGET
