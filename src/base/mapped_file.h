// A file seen as bytes without reading it: pages come in when touched and can be given back.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace pointmap {

class MappedFile {
 public:
  // Maps the whole file read-only. Throws Error{kNotFound, kIoError} naming the path; an empty file maps to no bytes.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }

  // Gives back the memory of all pages wholly inside `part` (a sub-span of bytes()); touching them again re-reads the file.
  void drop_pages(std::span<const std::byte> part) const;

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace pointmap
