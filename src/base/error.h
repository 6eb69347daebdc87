// The error type is public (include/pointmap/error.h); this adds what only our own code needs.
#pragma once

#include <string>

#include "pointmap/error.h"  // IWYU pragma: export

namespace pointmap {

// "cannot open 'x': No such file or directory" from the errno of the call that just failed; ENOENT gives kNotFound.
Error system_error(const std::string& what_failed, int errno_value);

}  // namespace pointmap
