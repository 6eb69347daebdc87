// Writes point clouds and meshes as GLB (binary glTF 2.0), which web viewers and Blender open.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace pointmap {

struct GlbPoints {
  std::span<const float> positions;  // [N, 3] in camera axes: x right, y down, z forward; finite
  std::span<const uint8_t> colors;   // [N, 3] red, green, blue
};

// A perspective camera, drawn as the edges of a pyramid as well. Camera axes as above.
struct GlbCamera {
  std::string name;
  std::array<double, 9> rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};  // 3x3, row-major; with `position` takes camera to world
  std::array<double, 3> position = {};
  double fov_y_rad = 0;                                   // between 0 and pi
  double aspect = 1;                                      // width over height
  std::array<std::array<float, 3>, 4> base_corners = {};  // of the pyramid, around, in the camera's own frame; its tip is the camera
};

// What goes into a file.
struct GlbContent {
  GlbPoints points;
  std::span<const uint32_t> triangles = {};  // [T, 3] places in points, counter-clockwise from the front; empty: the points themselves
  std::span<const GlbCamera> cameras = {};
  std::string source = {};                      // what the points are and whose frame they are in, for asset.extras
  std::map<std::string, uint64_t> counts = {};  // for asset.extras as well
};

// Below a root node whose matrix diag(1, -1, -1) turns camera axes into glTF's (y up, looking along -z): the node `points` or `mesh` with
// one primitive, POINTS or TRIANGLES with 32-bit indices in the photo's colours, unlit and seen from both sides; `cameras`, a node each;
// and `frusta`, their pyramids, in a node of their own so that one click hides them. Throws Error{kInvalidArgument} for no points (glTF
// cannot hold none), spans that disagree, a triangle of points that are not there or a number that is not finite, Error{kLimitExceeded}
// beyond the 4 GiB that GLB can hold, Error{kIoError, kNotFound} naming the path.
void write_glb(const std::filesystem::path& path, const GlbContent& content);

}  // namespace pointmap
