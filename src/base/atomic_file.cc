#include "base/atomic_file.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace pointmap {

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path) {
  static std::atomic<unsigned> counter{0};  // two writers in one process must not share a temporary name
  temporary_path_ = path;
  temporary_path_ += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter.fetch_add(1));
  errno = 0;
  stream_.open(temporary_path_, std::ios::binary | std::ios::trunc);
  if (!stream_) throw system_error("cannot write '" + path.string() + "'", errno);
}

AtomicFile::~AtomicFile() {
  if (temporary_path_.empty()) return;
  stream_.close();
  std::error_code ignored;
  std::filesystem::remove(temporary_path_, ignored);
}

void AtomicFile::commit() {
  errno = 0;
  stream_.close();
  if (!stream_) throw system_error("cannot write '" + path_.string() + "'", errno != 0 ? errno : EIO);
  std::error_code error;
  std::filesystem::rename(temporary_path_, path_, error);
  if (error) throw Error{kIoError, "cannot write '" + path_.string() + "': " + error.message()};
  temporary_path_.clear();
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  write_file(path, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace pointmap
