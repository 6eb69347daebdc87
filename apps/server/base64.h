// Photos in JSON: base64 (RFC 4648) read in one pass over the text. The other way is in pointmap/encode.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace pointmap::server {

// Standard alphabet with its padding, whole groups of four; nothing else is let through (no blanks, no line ends, no URL alphabet). Empty
// optional when the text is none. "data:image/jpeg;base64," in front, as browsers put it, is skipped.
std::optional<std::vector<std::byte>> decode_base64(std::string_view text);

}  // namespace pointmap::server
