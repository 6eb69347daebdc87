// What is decided about a request from its header alone, before a byte of its body is read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace pointmap::server {

// How long the body is. Throws ApiError 400 when the header does not say it clearly (two lengths, or a length beside chunks: what one
// reader takes for the end of a request another takes for its middle), 413 beyond max_body_bytes, 415 for an encoded body.
struct BodyLength {
  uint64_t bytes = 0;
  bool is_chunked = false;  // then bytes is unknown
  bool has_body() const { return bytes > 0 || is_chunked; }
};
BodyLength body_length(const std::multimap<std::string, std::string>& lower_case_headers, uint64_t max_body_bytes);

// 16 hexadecimal digits that nobody can guess.
std::string random_id();

// The caller's X-Request-Id when it is short and plain (it goes into logs and answers), else one of ours.
std::string request_id_from(const std::string& header);

}  // namespace pointmap::server
