#include "apps/server/base64.h"

#include <array>
#include <cstdint>

namespace pointmap::server {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint32_t kNone = uint32_t{1} << 31;  // survives being OR-ed with others, so one test does for four characters

// Of each character its six bits, already in the place they have as the first, second ... of four.
using Places = std::array<std::array<uint32_t, 256>, 4>;

constexpr Places make_places() {
  Places places{};
  for (size_t place = 0; place < 4; ++place) {
    for (uint32_t& bits : places[place]) bits = kNone;
    for (size_t i = 0; i < kAlphabet.size(); ++i) {
      places[place][static_cast<uint8_t>(kAlphabet[i])] = static_cast<uint32_t>(i << (18 - 6 * place));
    }
  }
  return places;
}

// Two characters for twelve bits.
using Pairs = std::array<std::array<char, 2>, 4096>;

constexpr Pairs make_pairs() {
  Pairs pairs{};
  for (size_t i = 0; i < 4096; ++i) pairs[i] = {kAlphabet[i >> 6], kAlphabet[i & 63]};
  return pairs;
}

constexpr Places kPlaces = make_places();
constexpr Pairs kPairs = make_pairs();

uint32_t four(const uint8_t* in) {
  return kPlaces[0][in[0]] | kPlaces[1][in[1]] | kPlaces[2][in[2]] | kPlaces[3][in[3]];
}

std::string_view without_data_url(std::string_view text) {
  if (!text.starts_with("data:")) return text;
  constexpr std::string_view kMarker = ";base64,";
  const size_t marker = text.substr(0, 100).find(kMarker);
  return marker == std::string_view::npos ? text : text.substr(marker + kMarker.size());
}

}  // namespace

std::optional<std::vector<std::byte>> decode_base64(std::string_view text) {
  text = without_data_url(text);
  if (text.size() % 4 != 0) return std::nullopt;
  size_t num_padding = 0;
  while (num_padding < 2 && num_padding < text.size() && text[text.size() - 1 - num_padding] == '=') ++num_padding;
  const size_t num_whole = text.size() / 4 - (num_padding > 0 ? 1 : 0);  // groups without padding
  std::vector<std::byte> bytes(text.size() / 4 * 3 - num_padding);
  const auto* in = reinterpret_cast<const uint8_t*>(text.data());
  std::byte* out = bytes.data();
  uint32_t seen = 0;
  for (size_t i = 0; i < num_whole; ++i, in += 4, out += 3) {
    const uint32_t bits = four(in);
    seen |= bits;
    out[0] = static_cast<std::byte>(bits >> 16);
    out[1] = static_cast<std::byte>(bits >> 8);
    out[2] = static_cast<std::byte>(bits);
  }
  if (num_padding > 0) {
    const uint8_t last[4] = {in[0], in[1], num_padding == 2 ? uint8_t{'A'} : in[2], 'A'};
    const uint32_t bits = four(last);
    // Bits that no byte takes must be 0, or two texts would mean the same bytes.
    if ((bits & (num_padding == 2 ? 0xFFFFu : 0xFFu)) != 0) return std::nullopt;
    seen |= bits;
    out[0] = static_cast<std::byte>(bits >> 16);
    if (num_padding == 1) out[1] = static_cast<std::byte>(bits >> 8);
  }
  if ((seen & kNone) != 0) return std::nullopt;
  return bytes;
}

void encode_base64(std::string_view bytes, std::string& out) {
  const size_t begin = out.size();
  out.resize(begin + (bytes.size() + 2) / 3 * 4);
  char* to = out.data() + begin;
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

}  // namespace pointmap::server
