// Names from hostile files go into error messages that end on a terminal: keep them short and free of control bytes.
#pragma once

#include <string>
#include <string_view>

namespace pointmap {

// The name in quotes; control characters become '?', anything after 200 bytes becomes "...".
inline std::string name_in_message(std::string_view name) {
  constexpr size_t kMaxBytes = 200;
  std::string text = "'";
  for (const char c : name.substr(0, kMaxBytes)) text += (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) ? '?' : c;
  return text + (name.size() > kMaxBytes ? "...'" : "'");
}

}  // namespace pointmap
