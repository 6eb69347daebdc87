// Bytes as text that any container of text takes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace pointmap {

// RFC 4648, section 4: with padding, without line breaks.
std::string base64(std::span<const std::byte> bytes);
// The same behind what `text` holds.
void append_base64(std::span<const std::byte> bytes, std::string& text);

}  // namespace pointmap
