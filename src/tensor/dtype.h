// Element types, named as safetensors and NumPy know them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pointmap {

enum class DType : uint8_t { kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU64, kU32, kU16, kU8, kBool };

size_t dtype_bytes(DType dtype);
std::string_view dtype_name(DType dtype);  // "F32", "BF16", ... as in a safetensors header

template <typename T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<double>() {
  return DType::kF64;
}
template <>
constexpr DType dtype_of<float>() {
  return DType::kF32;
}
template <>
constexpr DType dtype_of<int64_t>() {
  return DType::kI64;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::kI32;
}
template <>
constexpr DType dtype_of<uint16_t>() {
  return DType::kU16;
}
template <>
constexpr DType dtype_of<uint8_t>() {
  return DType::kU8;
}

// Exact widening of the two 16-bit float formats, from their bits. F16 subnormals, infinities and NaN included.
float float_from_bf16(uint16_t bits);
float float_from_f16(uint16_t bits);
// Round to nearest even; overflow gives infinity, NaN stays NaN.
uint16_t f16_from_float(float value);
// The same of each; `halves` has as many elements.
void f16_from_floats(std::span<const float> values, std::span<uint16_t> halves);

}  // namespace pointmap
