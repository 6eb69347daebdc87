#include "base/base64.h"

#include <cstdint>

namespace pointmap {

std::string base64(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  char* out = text.data();
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](size_t k) { return i + k < bytes.size() ? static_cast<uint32_t>(bytes[i + k]) : 0u; };
    const uint32_t group = at(0) << 16 | at(1) << 8 | at(2);
    *out++ = kDigits[group >> 18];
    *out++ = kDigits[group >> 12 & 63];
    if (i + 1 < bytes.size()) *out = kDigits[group >> 6 & 63];
    ++out;
    if (i + 2 < bytes.size()) *out = kDigits[group & 63];
    ++out;
  }
  return text;
}

}  // namespace pointmap
