// transforms.json, as instant-ngp and nerfstudio write it: which photo was taken from where.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pointmap {

inline constexpr size_t kMaxTransformsFrames = 100'000;
inline constexpr int kMaxTransformsDepth = 32;

struct TransformsFrame {
  std::string file_path;               // as the file says it
  std::array<double, 16> matrix = {};  // transform_matrix, 4x4, row-major, finite; 0 0 0 1 below when the file has three rows
};

// Of everything else in the file nothing is looked at. Throws Error{kCorruptData} naming file (file_name, for messages only) and frame,
// Error{kLimitExceeded} beyond the limits above.
std::vector<TransformsFrame> parse_transforms_json(std::string_view text, const std::string& file_name);

}  // namespace pointmap
