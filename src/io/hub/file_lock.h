// One process at a time on the same download. Private to this folder.
#pragma once

#include <filesystem>

#include "base/cancel.h"

namespace pointmap {

// Holds flock() on a file, made when absent, until destroyed or the process ends. huggingface_hub locks the same way.
class FileLock {
 public:
  // Waits for other holders; cancel ends the wait with Error{kCancelled}. Throws Error{kIoError, kNotFound} naming the file.
  FileLock(const std::filesystem::path& path, const CancelFlag* cancel);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace pointmap
