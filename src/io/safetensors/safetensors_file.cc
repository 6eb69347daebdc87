#include "io/safetensors/safetensors_file.h"

#include "base/check.h"
#include "io/safetensors/name_in_message.h"

namespace pointmap {

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(path), header_(parse_safetensors_header(file_.bytes(), path.string())) {}

std::span<const std::byte> SafetensorsFile::bytes(const SafetensorsEntry& entry) const {
  POINTMAP_CHECK(entry.begin <= entry.end && entry.end <= file_.bytes().size(),
                 "tensor " + name_in_message(entry.name) + " is not of file '" + path().string() + "'");
  return file_.bytes().subspan(entry.begin, entry.end - entry.begin);
}

TensorView SafetensorsFile::view(const SafetensorsEntry& entry) const {
  const std::span<const std::byte> data = bytes(entry);
  const size_t alignment = dtype_bytes(entry.dtype);
  // An empty tensor has no element to be misaligned; the mapping itself starts on a page.
  if (!data.empty() && entry.begin % alignment != 0) {
    throw Error{kUnsupported, "'" + path().string() + "': tensor " + name_in_message(entry.name) + ": data begins at byte " +
                                  std::to_string(entry.begin) + " of the file, " + std::string(dtype_name(entry.dtype)) +
                                  " needs a multiple of " + std::to_string(alignment) + "; save the file again with a current writer"};
  }
  return TensorView(data.data(), entry.dtype, entry.shape);
}

}  // namespace pointmap
