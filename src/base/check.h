// Checks at op and API boundaries, and arithmetic that does not overflow in silence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "base/error.h"

// Always on. message is a std::string expression, built only when the check fails.
#define POINTMAP_CHECK(condition, message)                              \
  do {                                                                  \
    if (!(condition)) [[unlikely]] {                                    \
      throw ::pointmap::Error{::pointmap::kInvalidArgument, (message)}; \
    }                                                                   \
  } while (false)

// For kernels: costs nothing in release builds.
#ifdef NDEBUG
#define POINTMAP_DCHECK(condition) \
  do {                             \
  } while (false)
#else
#define POINTMAP_DCHECK(condition)                                                           \
  do {                                                                                       \
    if (!(condition)) [[unlikely]] {                                                         \
      throw ::pointmap::Error{::pointmap::kInternal, "failed: " #condition " in " __FILE__}; \
    }                                                                                        \
  } while (false)
#endif

namespace pointmap {

// a * b, or Error{kLimitExceeded}: sizes from files are hostile.
template <typename T>
T checked_mul(T a, T b) {
  static_assert(std::is_integral_v<T>);
  T result;
  if (__builtin_mul_overflow(a, b, &result)) {
    throw Error{kLimitExceeded, "size overflow: " + std::to_string(a) + " * " + std::to_string(b)};
  }
  return result;
}

// a + b, or Error{kLimitExceeded}.
template <typename T>
T checked_add(T a, T b) {
  static_assert(std::is_integral_v<T>);
  T result;
  if (__builtin_add_overflow(a, b, &result)) {
    throw Error{kLimitExceeded, "size overflow: " + std::to_string(a) + " + " + std::to_string(b)};
  }
  return result;
}

}  // namespace pointmap
