// The one error type. Thrown anywhere, caught only at the edges (command line, server, bindings, pool join).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace pointmap {

enum ErrorCode {
  kInvalidArgument,  // the caller asked for something that has no meaning
  kNotFound,         // a file, tensor or model that is not there
  kCorruptData,      // bytes from outside that break their own format
  kUnsupported,      // well formed, but not something we read or compute
  kLimitExceeded,    // memory, pixel or size limit: refused before the work began
  kCancelled,        // the caller asked us to stop
  kIoError,          // the operating system or the network said no
  kInternal,         // a bug of ours
};

// Short stable name for machines, for example "corrupt_data".
std::string_view error_code_name(ErrorCode code);

class Error : public std::runtime_error {
 public:
  // message names the file or tensor and gives got and wanted.
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace pointmap
