#include "base/base64.h"

#include <array>
#include <cstdint>

namespace pointmap {
namespace {

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Two digits for twelve bits.
using Pairs = std::array<std::array<char, 2>, 4096>;

constexpr Pairs make_pairs() {
  Pairs pairs{};
  for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = {kDigits[i >> 6], kDigits[i & 63]};
  return pairs;
}

constexpr Pairs kPairs = make_pairs();

}  // namespace

void append_base64(std::span<const std::byte> bytes, std::string& text) {
  const size_t begin = text.size();
  text.resize(begin + (bytes.size() + 2) / 3 * 4);
  char* to = text.data() + begin;
  const auto put = [&to](uint32_t bits) {
    const auto& first = kPairs[bits >> 12];
    const auto& second = kPairs[bits & 4095];
    to[0] = first[0];
    to[1] = first[1];
    to[2] = second[0];
    to[3] = second[1];
    to += 4;
  };
  const auto* in = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t left = bytes.size();
  for (; left >= 3; left -= 3, in += 3) put(uint32_t{in[0]} << 16 | uint32_t{in[1]} << 8 | in[2]);
  if (left == 0) return;
  put(uint32_t{in[0]} << 16 | (left == 2 ? uint32_t{in[1]} << 8 : 0));
  to[-1] = '=';
  if (left == 1) to[-2] = '=';
}

std::string base64(std::span<const std::byte> bytes) {
  std::string text;
  append_base64(bytes, text);
  return text;
}

}  // namespace pointmap
