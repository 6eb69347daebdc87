#include "io/safetensors/safetensors_file.h"

#include <cstdint>

#include "base/check.h"
#include "io/safetensors/name_in_message.h"

namespace pointmap {

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : path_(path), mapping_(path), bytes_(mapping_->bytes()), header_(parse_safetensors_header(bytes_, path.string())) {}

SafetensorsFile::SafetensorsFile(std::span<const std::byte> bytes, const std::string& name)
    : path_(name), bytes_(bytes), header_(parse_safetensors_header(bytes, name)) {}

std::span<const std::byte> SafetensorsFile::bytes(const SafetensorsEntry& entry) const {
  POINTMAP_CHECK(entry.begin <= entry.end && entry.end <= bytes_.size(),
                 "tensor " + name_in_message(entry.name) + " is not of file '" + path().string() + "'");
  return bytes_.subspan(entry.begin, entry.end - entry.begin);
}

TensorView SafetensorsFile::view(const SafetensorsEntry& entry) const {
  const std::span<const std::byte> data = bytes(entry);
  const size_t alignment = dtype_bytes(entry.dtype);
  // An empty tensor has no element to be misaligned. A mapping starts on a page; bytes in memory may start anywhere.
  if (!data.empty() && reinterpret_cast<uintptr_t>(data.data()) % alignment != 0) {
    throw Error{kUnsupported, "'" + path().string() + "': tensor " + name_in_message(entry.name) + ": data begins at byte " +
                                  std::to_string(entry.begin) + " of the file, " + std::string(dtype_name(entry.dtype)) +
                                  " needs a multiple of " + std::to_string(alignment) + "; save the file again with a current writer"};
  }
  return TensorView(data.data(), entry.dtype, entry.shape);
}

}  // namespace pointmap
