#include "apps/server/multipart.h"

#include <algorithm>
#include <optional>

#include "apps/server/api_error.h"
#include "apps/server/text.h"

namespace pointmap::server {

namespace {

constexpr size_t kMaxPartHeaderBytes = 4096;

ApiError malformed(const std::string& what) {
  return {400, "bad_multipart", "the multipart body is not well formed: " + what};
}

bool starts_with_ignoring_case(std::string_view text, std::string_view lower_case_start) {
  return is_same_word(text.substr(0, lower_case_start.size()), lower_case_start);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The value of `name` in `form-data; name="a"; filename="b;c"`, quoted or not.
std::optional<std::string> parameter(std::string_view header, std::string_view name) {
  size_t at = header.find(';');
  while (at < header.size()) {
    header.remove_prefix(at + 1);
    header = trimmed(header);
    const size_t equals = std::min(header.find('='), header.size());
    const bool is_wanted = equals == name.size() && starts_with_ignoring_case(header, name);
    header.remove_prefix(std::min(equals + 1, header.size()));
    std::string value;
    if (header.starts_with('"')) {
      size_t i = 1;
      for (; i < header.size() && header[i] != '"'; ++i) {
        if (header[i] == '\\' && i + 1 < header.size()) ++i;
        value.push_back(header[i]);
      }
      header.remove_prefix(std::min(i + 1, header.size()));
    } else {
      value = trimmed(header.substr(0, header.find(';')));
    }
    if (is_wanted) return value;
    at = header.find(';');
  }
  return std::nullopt;
}

std::string boundary_of(std::string_view content_type) {
  if (!starts_with_ignoring_case(content_type, "multipart/form-data")) {
    throw ApiError{415, "unsupported_media_type", "Content-Type is '" + std::string(content_type) + "', wanted multipart/form-data"};
  }
  const std::optional<std::string> boundary = parameter(content_type, "boundary");
  if (!boundary || boundary->empty() || boundary->size() > 70) {
    throw ApiError{415, "unsupported_media_type", "multipart/form-data wants a boundary of 1 to 70 characters"};
  }
  return *boundary;
}

void read_header_line(std::string_view line, FormPart& part) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) throw malformed("a header of a part has no colon");
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (starts_with_ignoring_case(line, "content-disposition:")) {
    part.name = parameter(value, "name").value_or("");
    part.file_name = parameter(value, "filename").value_or("");
  } else if (starts_with_ignoring_case(line, "content-type:")) {
    part.content_type = value;
  }
}

// From behind a boundary line to before the next one.
FormPart read_part(std::string_view text) {
  FormPart part;
  while (true) {
    const size_t end = text.substr(0, kMaxPartHeaderBytes).find("\r\n");
    if (end == std::string_view::npos) throw malformed("the header of a part does not end");
    if (end == 0) break;
    read_header_line(text.substr(0, end), part);
    text.remove_prefix(end + 2);
  }
  if (part.name.empty()) throw malformed("a part has no name");
  part.content = text.substr(2);
  return part;
}

}  // namespace

std::vector<FormPart> parse_multipart(std::string_view body, std::string_view content_type, size_t max_parts) {
  const std::string delimiter = "\r\n--" + boundary_of(content_type);
  // The first one may stand at the very beginning.
  size_t at = 0;
  if (body.starts_with(std::string_view(delimiter).substr(2))) {
    at = delimiter.size() - 2;
  } else {
    at = body.find(delimiter);
    if (at == std::string_view::npos) throw malformed("the boundary is not there");
    at += delimiter.size();
  }
  std::vector<FormPart> parts;
  while (!body.substr(at).starts_with("--")) {
    const size_t line_end = body.find("\r\n", at);
    if (line_end == std::string_view::npos || !trimmed(body.substr(at, line_end - at)).empty())
      throw malformed("a boundary line does not end");
    const size_t begin = line_end + 2;
    const size_t end = body.find(delimiter, line_end);
    if (end == std::string_view::npos) throw malformed("the last boundary is not there");
    if (parts.size() == max_parts) throw malformed("more than " + std::to_string(max_parts) + " parts");
    parts.push_back(read_part(begin <= end ? body.substr(begin, end - begin) : std::string_view()));
    at = end + delimiter.size();
  }
  return parts;
}

}  // namespace pointmap::server
