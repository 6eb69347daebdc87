// Photos in JSON: base64 both ways (RFC 4648), in one pass over the text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pointmap::server {

// Standard alphabet with its padding, whole groups of four; nothing else is let through (no blanks, no line ends, no URL alphabet). Empty
// optional when the text is none. "data:image/jpeg;base64," in front, as browsers put it, is skipped.
std::optional<std::vector<std::byte>> decode_base64(std::string_view text);

// Appends.
void encode_base64(std::string_view bytes, std::string& out);

}  // namespace pointmap::server
