// Writes point clouds as binary PLY, which every point cloud program opens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace pointmap {

struct PlyPoints {
  std::span<const float> positions;     // [N, 3]
  std::span<const uint8_t> colors;      // [N, 3] red, green, blue
  std::span<const float> confidence;    // [N]
  std::span<const float> normals = {};  // [N, 3]; empty: the vertices have none
};

// One vertex per point, in order: x y z, nx ny nz where there are normals, red green blue, confidence. `comments` go to the header, one
// line each, without line breaks. Throws Error{kInvalidArgument} when the spans disagree about N, Error{kIoError, kNotFound} naming the
// path.
void write_ply(const std::filesystem::path& path, const PlyPoints& points, std::span<const std::string> comments = {});

}  // namespace pointmap
