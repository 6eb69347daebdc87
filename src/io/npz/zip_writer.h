// Writes zip archives: the same bytes for the same members, zip64 where sizes need it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"

namespace pointmap {

inline constexpr size_t kMaxZipNameBytes = 4096;

struct ZipWriteOptions {
  int deflate_level = 0;      // 0 stores the members as they are, 1 (fast) to 12 (small) deflates them
  bool always_zip64 = false;  // zip64 fields also where the sizes do not need them (they are always used where they do)
};

// An archive that is nowhere in one piece: sent in this order it is one. Members that are stored as they are are not copied, and must live
// as long as this.
struct ZipPieces {
  std::deque<std::string> copied;  // a deque: moving it leaves its elements where they are
  std::vector<std::string_view> in_order;
};

class ZipWriter {
 public:
  // Nothing appears at `path` before finish(). Throws Error{kIoError, kNotFound} naming the path, Error{kInvalidArgument} for
  // a level out of range.
  explicit ZipWriter(const std::filesystem::path& path, const ZipWriteOptions& options = {});
  // Appends the archive to `memory`, which must outlive the writer, and begins at its end. `name` is for messages.
  ZipWriter(std::string& memory, const std::string& name, const ZipWriteOptions& options = {});
  // Appends the archive to `pieces`, which must outlive the writer and be empty.
  ZipWriter(ZipPieces& pieces, const std::string& name, const ZipWriteOptions& options = {});

  // Adds a member whose bytes are `head` and behind it `rest` (which pieces refer to). `name` may have folders, "a/b.bin". Throws
  // Error{kInvalidArgument} for an empty, repeated or overlong name.
  void add(std::string_view name, std::string_view head, std::string_view rest = {});

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
  void write(std::string_view bytes);
  void write_or_refer(std::string_view bytes);
  static void append_shared_fields(const Entry& entry, bool zip64, uint16_t extra_bytes, std::string& header);
  std::string local_header(const Entry& entry) const;
  std::string central_header(const Entry& entry) const;
  std::string end_records(uint64_t directory_offset, uint64_t directory_bytes) const;

  std::string file_name_;
  ZipWriteOptions options_;
  std::optional<AtomicFile> file_;  // or, without one,
  std::string* memory_ = nullptr;   // or
  ZipPieces* pieces_ = nullptr;
  std::vector<Entry> entries_;
  std::set<std::string> names_;
  uint64_t position_ = 0;
  bool finished_ = false;
};

}  // namespace pointmap
