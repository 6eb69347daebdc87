// Writes NumPy .npz archives: what numpy.load opens, the same bytes for the same arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "tensor/tensor_view.h"

namespace pointmap {

struct NpzWriteOptions {
  int deflate_level = 0;      // 0 stores the arrays as they are, 1 (fast) to 12 (small) deflates them
  bool always_zip64 = false;  // zip64 fields also where the sizes do not need them (they are always used where they do)
};

class NpzWriter {
 public:
  // Nothing appears at `path` before finish(). Throws Error{kIoError, kNotFound} naming the path, Error{kInvalidArgument} for
  // a level out of range.
  explicit NpzWriter(const std::filesystem::path& path, const NpzWriteOptions& options = {});
  // Appends the archive to `memory`, which must outlive the writer, and begins at its end. `name` is for messages.
  NpzWriter(std::string& memory, const std::string& name, const NpzWriteOptions& options = {});

  // Adds an array called `name` (without ".npy"). Throws Error{kInvalidArgument} for an empty, repeated or overlong name and
  // for a view without elements behind it, Error{kUnsupported} for BF16.
  void add(std::string_view name, const TensorView& array);
  // The same from `elements`, C order, as many bytes as shape and type say.
  void add(std::string_view name, DType dtype, const Shape& shape, std::span<const std::byte> elements);
  // UTF-8 bytes as a U8 array [n]: the way this project keeps JSON in archives.
  void add_text(std::string_view name, std::string_view text);

  // Writes the directory and puts the file in place; call once, last. Throws Error{kIoError} naming the path.
  void finish();

 private:
  struct Entry {
    std::string name;
    uint32_t crc32 = 0;
    uint16_t method = 0;
    uint64_t compressed_bytes = 0;
    uint64_t uncompressed_bytes = 0;
    uint64_t local_offset = 0;
  };

  void check_options() const;
  void add_member(std::string_view name, std::string_view header, std::string_view elements);
  void write(std::string_view bytes);
  std::string local_header(const Entry& entry) const;
  std::string central_header(const Entry& entry) const;
  std::string end_records(uint64_t directory_offset, uint64_t directory_bytes) const;

  std::string file_name_;
  NpzWriteOptions options_;
  std::optional<AtomicFile> file_;  // or, without one,
  std::string* memory_ = nullptr;
  std::vector<Entry> entries_;
  std::set<std::string> names_;
  uint64_t position_ = 0;
  bool finished_ = false;
};

}  // namespace pointmap
