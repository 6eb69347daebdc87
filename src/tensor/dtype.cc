#include "tensor/dtype.h"

#include <bit>

namespace pointmap {

size_t dtype_bytes(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kI64:
    case DType::kU64:
      return 8;
    case DType::kF32:
    case DType::kI32:
    case DType::kU32:
      return 4;
    case DType::kF16:
    case DType::kBF16:
    case DType::kI16:
    case DType::kU16:
      return 2;
    case DType::kI8:
    case DType::kU8:
    case DType::kBool:
      return 1;
  }
  return 0;
}

std::string_view dtype_name(DType dtype) {
  constexpr std::string_view kNames[] = {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL"};
  return kNames[static_cast<size_t>(dtype)];
}

float float_from_bf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

float float_from_f16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1Fu;
  const uint32_t mantissa = bits & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  // Zero and subnormals: mantissa * 2^-24, exact in float.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

namespace {

// Whichever the mask says, all bits or none of it: conditional expressions would become branches, one value at a time.
int32_t select(bool mask, int32_t yes, int32_t no) {
  const int32_t bits = -static_cast<int32_t>(mask);
  return (yes & bits) | (no & ~bits);
}

// Magnitudes are below 2^31: signed.
int32_t f16_bits(float value) {
  const int32_t bits = std::bit_cast<int32_t>(value);
  const int32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7FFFFFFF;
  const int32_t odd = (magnitude >> 13) & 1;
  const int32_t normal = (magnitude - 0x38000000 + 0xFFF + odd) >> 13;
  // Adding 0.5 lines a subnormal half up with the last bit of the result, in the current rounding mode (nearest even).
  const int32_t subnormal = std::bit_cast<int32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000;
  const int32_t finite = select(magnitude < 0x38800000, subnormal, normal);
  const int32_t number = select(magnitude >= 0x477FF000, 0x7C00, finite);  // rounds to 65536 or more
  return sign | select(magnitude > 0x7F800000, 0x7E00, number);
}

}  // namespace

uint16_t f16_from_float(float value) {
  return static_cast<uint16_t>(f16_bits(value));
}

void f16_from_floats(std::span<const float> values, std::span<uint16_t> halves) {
  for (size_t i = 0; i < values.size(); ++i) halves[i] = static_cast<uint16_t>(f16_bits(values[i]));
}

}  // namespace pointmap
