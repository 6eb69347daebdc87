// Parts of an artefact: the Range header (RFC 9110, section 14).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pointmap::server {

struct ByteRange {
  uint64_t begin = 0;
  uint64_t length = 0;
};

// The one range asked for, cut to the size. Empty when there is no header, or one that asks for several or is not understood: then all is
// sent, as the standard allows. Throws ApiError 416 when nothing of it is there.
std::optional<ByteRange> parse_range(std::string_view header, uint64_t size);

}  // namespace pointmap::server
