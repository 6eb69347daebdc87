// One .safetensors file, mapped: its contents table and views into its bytes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "io/safetensors/safetensors_header.h"
#include "tensor/tensor_view.h"

namespace pointmap {

class SafetensorsFile {
 public:
  // Throws Error{kNotFound, kIoError} from mapping and what parse_safetensors_header throws.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }
  const std::vector<SafetensorsEntry>& entries() const { return header_.entries; }  // in the order of their bytes; file_index 0
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  std::span<const std::byte> bytes() const { return file_.bytes(); }  // the whole file
  std::span<const std::byte> header_bytes() const { return file_.bytes().first(header_.data_begin); }

  // The bytes of an entry of this file, whatever its type and alignment.
  std::span<const std::byte> bytes(const SafetensorsEntry& entry) const;
  // The elements of an entry of this file, valid as long as this object. Throws Error{kUnsupported} naming the tensor when its
  // bytes are not aligned to its type, as some old writers leave them.
  TensorView view(const SafetensorsEntry& entry) const;
  // Gives back the memory of the pages of an entry, or of any part of bytes(); a later look reads the file again.
  void drop_pages(const SafetensorsEntry& entry) const { file_.drop_pages(bytes(entry)); }
  void drop_pages(std::span<const std::byte> part) const { file_.drop_pages(part); }

 private:
  MappedFile file_;
  SafetensorsHeader header_;
};

}  // namespace pointmap
