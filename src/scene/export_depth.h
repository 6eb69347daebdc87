// A scene's depth as 16-bit PNG files, for programs that want pictures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "scene/scene.h"

namespace pointmap {

struct DepthMap {
  std::vector<uint16_t> values;  // [H, W]; depth = value * scale, 0 where there is none
  double scale = 1;              // the scene's unit of length per step, so that the farthest point has the value 65535
  size_t num_valid = 0;
  size_t num_total = 0;  // pixels that show the photo and are in its mask
};

// The view's depth, in its own camera frame, if it has one; else z of its points, which is in the world, for every view. No value where the
// network saw padding, the number (or the point or its confidence) is not finite, or is not in front of the camera. Rounded to the nearest
// step, at least 1.
DepthMap depth_map(const SceneView& view);

struct DepthFile {
  std::filesystem::path path;
  double scale = 1;
  size_t num_valid = 0;
  size_t num_total = 0;
};

// Writes depth_1.png, depth_2.png, ... for the views whose status is "ok" and depth.json, which has every file's source, scale and
// frame; returns one entry per PNG. Throws Error{kInvalidArgument} for a scene that check_scene refuses, Error{kIoError, kNotFound}
// naming the path.
std::vector<DepthFile> export_depth(const Scene& scene, const std::filesystem::path& folder);

}  // namespace pointmap
