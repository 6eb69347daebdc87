// What kind of file is this? Told by the first bytes. Private to this folder.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace pointmap {

enum class FileKind { kJpeg, kPng, kWebp, kHeic, kKnownButNotRead, kUnknown };

struct Sniffed {
  FileKind kind = FileKind::kUnknown;
  std::string_view name;  // "JPEG", "GIF" ...; empty when unknown
};

Sniffed sniff(std::span<const std::byte> bytes);

}  // namespace pointmap
