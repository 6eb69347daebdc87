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

constexpr Places kPlaces = make_places();

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

}  // namespace pointmap::server
