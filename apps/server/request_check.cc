#include "apps/server/request_check.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <random>

#include "apps/server/api_error.h"

namespace pointmap::server {

namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

}  // namespace

std::string random_id() {
  std::random_device random;
  char text[17];
  std::snprintf(text, sizeof(text), "%08x%08x", random(), random());
  return text;
}

BodyLength body_length(const std::multimap<std::string, std::string>& headers, uint64_t max_body_bytes) {
  BodyLength length;
  const auto encoding = headers.find("content-encoding");
  if (encoding != headers.end() && encoding->second != "identity") {
    throw ApiError{415, "unsupported_encoding", "Content-Encoding '" + encoding->second + "' is not read; send the body as it is"};
  }
  const bool is_transferred = headers.contains("transfer-encoding");
  if (headers.count("content-length") + (is_transferred ? 1 : 0) > 1) {
    throw ApiError{400, "bad_request", "the header gives more than one length of the body"};
  }
  if (is_transferred) {
    const std::string& value = headers.find("transfer-encoding")->second;
    if (value != "chunked") throw ApiError{400, "bad_request", "Transfer-Encoding '" + value + "', wanted chunked"};
    length.is_chunked = true;
  }
  if (const auto found = headers.find("content-length"); found != headers.end()) {
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length.bytes);
    if (error != std::errc() || end != text.data() + text.size()) throw ApiError{400, "bad_request", "Content-Length is no number"};
  }
  if (length.bytes > max_body_bytes) {
    throw ApiError{413, "body_too_large",
                   "the body has " + std::to_string(length.bytes) + " bytes, at most " + std::to_string(max_body_bytes) + " are read"};
  }
  return length;
}

std::string request_id_from(const std::string& header) {
  const bool is_usable = !header.empty() && header.size() <= 64 && std::all_of(header.begin(), header.end(), is_plain);
  return is_usable ? header : random_id();
}

}  // namespace pointmap::server
