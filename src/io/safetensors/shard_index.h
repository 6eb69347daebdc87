// `model.safetensors.index.json`: which tensor lies in which of several files.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace pointmap {

// Tensor name -> file name, from the bytes of an index. File names are plain names of files beside the index: anything with a
// separator, or "." or "..", is refused. index_name is for messages. Throws Error{kCorruptData, kLimitExceeded}.
std::map<std::string, std::string> parse_shard_index(std::span<const std::byte> index_bytes, const std::string& index_name);

}  // namespace pointmap
