#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "apps/server/http_message.h"
#include "pointmap/error.h"

namespace pointmap::server {

FileBody::FileBody(const std::string& path) : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) {
  if (descriptor_ < 0) throw Error{errno == ENOENT ? kNotFound : kIoError, path + ": " + std::strerror(errno)};
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw Error{kIoError, path + ": not a plain file"};
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

FileBody::~FileBody() {
  ::close(descriptor_);
}

size_t FileBody::read(uint64_t offset, char* out, size_t bytes) const {
  const ssize_t got = ::pread(descriptor_, out, bytes, static_cast<off_t>(offset));
  if (got < 0) throw Error{kIoError, path_ + ": " + std::strerror(errno)};
  return static_cast<size_t>(got);
}

}  // namespace pointmap::server
