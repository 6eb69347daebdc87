// Hashes of downloaded files, as the hub states them. Private to this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/cancel.h"

namespace pointmap {

// 64 hex digits are the SHA-256 of the contents (large files), 40 the git blob hash (small ones): SHA-1 of "blob SIZE\0" and the
// contents. Lowercase.
bool is_content_hash(std::string_view text);

// The hash of the file of the kind that `like` (a content hash) is. Throws Error{kIoError, kNotFound, kCancelled}.
std::string content_hash_of_file(const std::filesystem::path& path, std::string_view like, const CancelFlag* cancel);

}  // namespace pointmap
