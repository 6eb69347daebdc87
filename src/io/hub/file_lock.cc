#include "io/hub/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "io/hub/backoff.h"

namespace pointmap {

FileLock::FileLock(const std::filesystem::path& path, const CancelFlag* cancel) {
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) throw system_error("cannot open lock '" + path.string() + "'", errno);
  try {
    // Asked again and again instead of waiting inside flock, so that a cancel is heard.
    while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) throw system_error("cannot lock '" + path.string() + "'", errno);
      sleep_unless_cancelled(20, cancel);
    }
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

FileLock::~FileLock() {
  ::close(fd_);
}

}  // namespace pointmap
