// Words of a protocol that does not care about case, and JSON as it is sent.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace pointmap::server {

// ASCII only, whatever the locale.
inline char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

inline std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return lower_case(c); });
  return text;
}

inline bool is_same_word(std::string_view text, std::string_view lower_case_word) {
  return std::ranges::equal(text, lower_case_word, [](char a, char b) { return lower_case(a) == b; });
}

// On one line. What a client sent, or a file is called, may stand in it and need be no UTF-8: such bytes are replaced.
inline std::string text_of(const nlohmann::ordered_json& json, bool ascii_only = false) {
  return json.dump(-1, ' ', ascii_only, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace pointmap::server
