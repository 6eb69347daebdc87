// Nothing half-written: files appear under their name only when complete.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace pointmap {

// Writes to a temporary name beside `path`; commit() renames it into place, otherwise the destructor removes it.
class AtomicFile {
 public:
  // Throws Error{kNotFound, kIoError} naming the path when the folder cannot be written.
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  std::ostream& stream() { return stream_; }
  void write(std::string_view bytes) { stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size())); }

  // Flushes and renames. Throws Error{kIoError} naming the path if any write failed (a full disk, say).
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_path_;
  std::ofstream stream_;
};

// All of a file at once. Throws what AtomicFile throws.
void write_file(const std::filesystem::path& path, std::string_view bytes);
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace pointmap
