// Sixteen floats at a time, in as many registers as the processor needs for them: one with AVX-512, two with AVX2, four otherwise. Built
// on the vector extensions of GCC and clang, so that code over lanes reads like scalar code and one source serves all. Included inside a
// namespace per instruction set, everything forced inline: nothing compiled for a newer processor can be linked into code for an older one.
#pragma once

#include <cstdint>
#include <type_traits>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernel.h"

#define SG_INLINE static inline __attribute__((always_inline))

namespace pointmap::scene_gen::SG_TARGET {

#if defined(__AVX512F__)
inline constexpr int kNative = 16;
#elif defined(__AVX2__)
inline constexpr int kNative = 8;
#else
inline constexpr int kNative = 4;
#endif

// N values in one register, or two halves. No arrays and no loops: compilers keep only named members in registers.
template <typename T, int N = kLanes>
struct Lanes {
  Lanes<T, N / 2> low, high;

  // One value; for the few places that leave the world of lanes.
  __attribute__((always_inline)) T at(int lane) const { return lane < N / 2 ? low.at(lane) : high.at(lane - N / 2); }
};
template <typename T>
struct Lanes<T, kNative> {
  typedef T Native __attribute__((vector_size(4 * kNative)));
  Native native;

  __attribute__((always_inline)) T at(int lane) const { return native[lane]; }
};
using F = Lanes<float>;
using I = Lanes<int32_t>;  // also masks: a true lane is -1, a false one 0
using U = Lanes<uint32_t>;

template <typename T, int N = kLanes>
SG_INLINE Lanes<T, N> splat_lanes(T x) {
  if constexpr (N == kNative) {
    return {x -
            typename Lanes<T, N>::Native{}};  // x - 0 is x whatever x is, so the subtraction goes away; 0 + x would not, since x may be -0
  } else {
    return {splat_lanes<T, N / 2>(x), splat_lanes<T, N / 2>(x)};
  }
}
SG_INLINE F splat(float x) {
  return splat_lanes(x);
}
SG_INLINE I splat_int(int x) {
  return splat_lanes(x);
}

// a OP b for lanes with lanes, and with a scalar on either side; the result has lanes of type R.
#define SG_BINARY(OP, R)                                                        \
  template <typename T, int N>                                                  \
  SG_INLINE Lanes<R, N> operator OP(Lanes<T, N> a, Lanes<T, N> b) {             \
    if constexpr (N == kNative) {                                               \
      return {a.native OP b.native};                                            \
    } else {                                                                    \
      return {a.low OP b.low, a.high OP b.high};                                \
    }                                                                           \
  }                                                                             \
  template <typename T, int N>                                                  \
  SG_INLINE Lanes<R, N> operator OP(Lanes<T, N> a, std::type_identity_t<T> b) { \
    return a OP splat_lanes<T, N>(b);                                           \
  }                                                                             \
  template <typename T, int N>                                                  \
  SG_INLINE Lanes<R, N> operator OP(std::type_identity_t<T> a, Lanes<T, N> b) { \
    return splat_lanes<T, N>(a) OP b;                                           \
  }
SG_BINARY(+, T)
SG_BINARY(-, T)
SG_BINARY(*, T)
SG_BINARY(/, T)
SG_BINARY(&, T)
SG_BINARY(|, T)
SG_BINARY(^, T)
SG_BINARY(<, int32_t)
SG_BINARY(<=, int32_t)
SG_BINARY(>, int32_t)
SG_BINARY(>=, int32_t)
SG_BINARY(==, int32_t)
SG_BINARY(!=, int32_t)
#undef SG_BINARY

#define SG_ASSIGN(OP)                                              \
  template <typename T, int N, typename Other>                     \
  SG_INLINE Lanes<T, N>& operator OP##=(Lanes<T, N>& a, Other b) { \
    return a = a OP b;                                             \
  }
SG_ASSIGN(+)
SG_ASSIGN(*)
SG_ASSIGN(&)
SG_ASSIGN(|)
SG_ASSIGN(^)
#undef SG_ASSIGN

SG_INLINE F operator-(F a) {
  return splat(-0.0f) - a;
}
SG_INLINE I operator~(I a) {
  return a ^ -1;
}

template <int N>
SG_INLINE Lanes<uint32_t, N> operator>>(Lanes<uint32_t, N> a, int bits) {
  if constexpr (N == kNative) {
    return {a.native >> bits};
  } else {
    return {a.low >> bits, a.high >> bits};
  }
}

// The same bits as another type.
template <typename To, typename From, int N>
SG_INLINE Lanes<To, N> bits_as(Lanes<From, N> from) {
  if constexpr (N == kNative) {
    return {(typename Lanes<To, N>::Native)from.native};
  } else {
    return {bits_as<To>(from.low), bits_as<To>(from.high)};
  }
}
SG_INLINE I as_int(U a) {
  return bits_as<int32_t>(a);
}
SG_INLINE U as_unsigned(I a) {
  return bits_as<uint32_t>(a);
}

// Converted by value; to integers the fraction is cut off (|value| < 2^31).
template <typename To, typename From, int N>
SG_INLINE Lanes<To, N> value_as(Lanes<From, N> from) {
  if constexpr (N == kNative) {
    return {__builtin_convertvector(from.native, typename Lanes<To, N>::Native)};
  } else {
    return {value_as<To>(from.low), value_as<To>(from.high)};
  }
}
SG_INLINE F to_float(I a) {
  return value_as<float>(a);
}
SG_INLINE I truncated(F a) {
  return value_as<int32_t>(a);
}

template <typename T, int N = kLanes>
SG_INLINE Lanes<T, N> load(const T* from) {
  Lanes<T, N> result;
  if constexpr (N == kNative) {
    __builtin_memcpy(&result.native, from, sizeof result.native);
  } else {
    result.low = load<T, N / 2>(from);
    result.high = load<T, N / 2>(from + N / 2);
  }
  return result;
}
template <typename T, int N>
SG_INLINE void store(T* to, Lanes<T, N> from) {
  if constexpr (N == kNative) {
    __builtin_memcpy(to, &from.native, sizeof from.native);
  } else {
    store(to, from.low);
    store(to + N / 2, from.high);
  }
}

template <typename T, int N>
SG_INLINE Lanes<T, N> select(Lanes<int32_t, N> mask, Lanes<T, N> a, Lanes<T, N> b) {
  if constexpr (N == kNative) {
    return {mask.native ? a.native : b.native};
  } else {
    return {select(mask.low, a.low, b.low), select(mask.high, a.high, b.high)};
  }
}
SG_INLINE F min(F a, F b) {
  return select(a < b, a, b);
}
SG_INLINE F max(F a, F b) {
  return select(a > b, a, b);
}
SG_INLINE F abs(F a) {
  return bits_as<float>(bits_as<int32_t>(a) & 0x7fffffff);
}
SG_INLINE F clamp01(F a) {
  return min(max(a, splat(0)), splat(1));
}
SG_INLINE I floor_int(F a) {
  const I whole = truncated(a);
  return whole + (to_float(whole) > a);
}

template <int N>
SG_INLINE Lanes<float, N> sqrt(Lanes<float, N> a) {
  if constexpr (N != kNative) {
    return {sqrt(a.low), sqrt(a.high)};
  } else {
#if defined(__AVX512F__)
    return {(decltype(a.native))_mm512_maskz_sqrt_ps(0xffff, (__m512)a.native)};  // the plain form draws a false warning from GCC 12
#elif defined(__AVX2__)
    return {(decltype(a.native))_mm256_sqrt_ps((__m256)a.native)};
#elif defined(__SSE2__)
    return {(decltype(a.native))_mm_sqrt_ps((__m128)a.native)};
#else
    for (int lane = 0; lane < kNative; ++lane) a.native[lane] = __builtin_sqrtf(a.native[lane]);
    return a;
#endif
  }
}

// Bit i set where lane i of the mask is true.
template <int N>
SG_INLINE uint32_t mask_bits(Lanes<int32_t, N> mask) {
  if constexpr (N != kNative) {
    return mask_bits(mask.low) | mask_bits(mask.high) << (N / 2);
  } else {
#if defined(__AVX512DQ__)
    return _mm512_movepi32_mask((__m512i)mask.native);
#elif defined(__AVX2__)
    return static_cast<uint32_t>(_mm256_movemask_ps((__m256)mask.native));
#elif defined(__SSE2__)
    return static_cast<uint32_t>(_mm_movemask_ps((__m128)mask.native));
#else
    uint32_t bits = 0;
    for (int lane = 0; lane < kNative; ++lane) bits |= static_cast<uint32_t>(mask.native[lane] & 1) << lane;
    return bits;
#endif
  }
}
template <int N>
SG_INLINE bool any(Lanes<int32_t, N> mask) {
  if constexpr (N == kNative) {
    return mask_bits(mask) != 0;
  } else {
    return any(mask.low | mask.high);
  }
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
