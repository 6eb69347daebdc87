// One .safetensors file, mapped or in memory already: its contents table and views into its bytes.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
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
  // From the bytes of a file; they stay the caller's and must outlive this object. `name` stands for the path in messages.
  SafetensorsFile(std::span<const std::byte> bytes, const std::string& name);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<SafetensorsEntry>& entries() const { return header_.entries; }  // in the order of their bytes; file_index 0
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  std::span<const std::byte> bytes() const { return bytes_; }  // the whole file
  std::span<const std::byte> header_bytes() const { return bytes_.first(header_.data_begin); }

  // The bytes of an entry of this file, whatever its type and alignment.
  std::span<const std::byte> bytes(const SafetensorsEntry& entry) const;
  // The elements of an entry of this file, valid as long as this object. Throws Error{kUnsupported} naming the tensor when its
  // bytes are not aligned to its type, as some old writers leave them.
  TensorView view(const SafetensorsEntry& entry) const;
  // Gives back the memory of the pages of an entry, or of any part of bytes(); a later look reads the file again. Does nothing for bytes
  // that are the caller's.
  void drop_pages(const SafetensorsEntry& entry) const { drop_pages(bytes(entry)); }
  void drop_pages(std::span<const std::byte> part) const {
    if (mapping_) mapping_->drop_pages(part);
  }

 private:
  std::filesystem::path path_;
  std::optional<MappedFile> mapping_;  // of bytes_, unless they are the caller's
  std::span<const std::byte> bytes_;
  SafetensorsHeader header_;
};

}  // namespace pointmap
