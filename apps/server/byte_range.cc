#include "apps/server/byte_range.h"

#include <algorithm>
#include <charconv>

#include "apps/server/api_error.h"

namespace pointmap::server {

namespace {

// False when `text` is no number.
bool read_number(std::string_view text, uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::optional<ByteRange> parse_range(std::string_view header, uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return std::nullopt;
  header.remove_prefix(kUnit.size());
  const size_t dash = header.find('-');
  if (dash == std::string_view::npos || header.find(',') != std::string_view::npos) return std::nullopt;
  const std::string_view first = header.substr(0, dash), last = header.substr(dash + 1);
  uint64_t begin = 0, end = size;  // [begin, end)
  if (first.empty()) {
    uint64_t count = 0;
    if (!read_number(last, count)) return std::nullopt;
    begin = size - std::min(count, size);
  } else {
    uint64_t last_byte = 0;
    if (!read_number(first, begin)) return std::nullopt;
    if (!last.empty()) {
      if (!read_number(last, last_byte) || last_byte < begin) return std::nullopt;
      if (last_byte < size) end = last_byte + 1;
    }
  }
  if (begin >= end) throw ApiError{416, "range_not_satisfiable", "the file has " + std::to_string(size) + " bytes"};
  return ByteRange{begin, end - begin};
}

}  // namespace pointmap::server
