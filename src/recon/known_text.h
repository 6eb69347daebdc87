// Small files of text that say what is known.
#pragma once

#include <filesystem>
#include <string>

namespace pointmap {

// Throws Error{kNotFound, kIoError} naming the file, Error{kLimitExceeded} when it has more than 16 MiB.
std::string read_known_text(const std::filesystem::path& file);

}  // namespace pointmap
