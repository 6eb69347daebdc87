// multipart/form-data (RFC 7578) in memory: the parts are views into the body, nothing is copied.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pointmap::server {

struct FormPart {
  std::string name;
  std::string file_name;  // as the client says; never a path of ours
  std::string content_type;
  std::string_view content;  // into the body
};

// Throws ApiError 415 when `content_type` is not multipart/form-data with a boundary, 400 when the body does not follow it or has more than
// max_parts parts.
std::vector<FormPart> parse_multipart(std::string_view body, std::string_view content_type, size_t max_parts);

}  // namespace pointmap::server
