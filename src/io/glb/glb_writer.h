// Writes point clouds as GLB (binary glTF 2.0), which web viewers and Blender open.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace pointmap {

struct GlbPoints {
  std::span<const float> positions;  // [N, 3] in camera axes: x right, y down, z forward; finite
  std::span<const uint8_t> colors;   // [N, 3] red, green, blue
};

// One POINTS primitive under a root node whose matrix diag(1, -1, -1) turns camera axes into glTF's (y up, looking along -z).
// `source` goes to asset.extras with that convention: what the points are and whose frame they are in.
// Throws Error{kInvalidArgument} for no points (glTF cannot hold none), spans that disagree or a position that is not finite,
// Error{kLimitExceeded} beyond the 4 GiB that GLB can hold, Error{kIoError, kNotFound} naming the path.
void write_glb(const std::filesystem::path& path, const GlbPoints& points, const std::string& source);

}  // namespace pointmap
