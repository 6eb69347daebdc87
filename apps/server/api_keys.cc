#include "apps/server/api_keys.h"

#include <fstream>
#include <sstream>

#include "apps/server/api_error.h"

namespace pointmap::server {

namespace {

// In a time that does not tell how much of the key was right.
bool is_same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

ApiKeys ApiKeys::parse(std::string_view text, const std::string& file) {
  constexpr size_t kMinBytes = 8;
  ApiKeys result;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    if (line.size() < kMinBytes)
      throw Error{kInvalidArgument, file + ": a key of " + std::to_string(line.size()) + " characters, wanted 8 or more"};
    result.keys_.push_back(line);
  }
  if (result.keys_.empty()) throw Error{kInvalidArgument, file + ": no key in it"};
  return result;
}

ApiKeys ApiKeys::read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error{kNotFound, file + ": cannot be opened"};
  std::ostringstream content;
  content << in.rdbuf();
  return parse(content.str(), file);
}

std::string ApiKeys::client_of(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer ";
  if (!authorization.starts_with(kScheme)) throw ApiError{401, "unauthorized", "a key is wanted: Authorization: Bearer KEY"};
  const std::string_view key = authorization.substr(kScheme.size());
  size_t found = 0;
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (is_same(keys_[i], key)) found = i + 1;
  }
  if (found == 0) throw ApiError{401, "unauthorized", "this key is not known"};
  return "key " + std::to_string(found);
}

}  // namespace pointmap::server
