#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace pointmap {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case kInvalidArgument:
      return "invalid_argument";
    case kNotFound:
      return "not_found";
    case kCorruptData:
      return "corrupt_data";
    case kUnsupported:
      return "unsupported";
    case kLimitExceeded:
      return "limit_exceeded";
    case kCancelled:
      return "cancelled";
    case kIoError:
      return "io_error";
    case kInternal:
      return "internal";
  }
  return "internal";
}

Error system_error(const std::string& what_failed, int errno_value) {
  const ErrorCode code = (errno_value == ENOENT || errno_value == ENOTDIR) ? kNotFound : kIoError;
  return Error{code, what_failed + ": " + std::generic_category().message(errno_value)};
}

}  // namespace pointmap
