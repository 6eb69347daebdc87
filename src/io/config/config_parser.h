// Text of a config.json -> values. All distrust of the file lives here.
#pragma once

#include <string>
#include <string_view>

#include "io/config/config.h"

namespace pointmap {

inline constexpr size_t kMaxConfigBytes = size_t{1} << 20;
inline constexpr size_t kMaxConfigDepth = 32;
inline constexpr size_t kMaxConfigValues = 10'000;

// JSON as Python writes it: NaN, Infinity and -Infinity may stand wherever a number may. The top must be an object. Throws
// Error{kCorruptData, kLimitExceeded} naming the file (file_name, for messages only) and the key.
ConfigMap parse_config(std::string_view text, const std::string& file_name);

}  // namespace pointmap
