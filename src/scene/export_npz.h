// A scene as arrays for programs: everything, unfiltered, at the network's resolution.
#pragma once

#include <filesystem>
#include <string>

#include "scene/scene.h"

namespace pointmap {

struct NpzExportOptions {
  std::string generator = "pointmap";  // program and version, for `meta`
  int deflate_level = 0;               // 0 stores; float maps shrink by about a tenth only
};

// For view i from 1: pts3d_i [H, W, 3] and conf_i [H, W], float32, and image_i [H, W, 3], uint8: what the network saw; where the scene has
// them raw_i [4, H, W] and depth_i [H, W], float32, mask_i [H, W], uint8, and of its camera world_from_cam_i [4, 4], intrinsics_i [3, 3]
// (network pixels) and original_intrinsics_i [3, 3], float64; `meta` [n], uint8, is scene_meta_json. A scene of VGGT has its views stacked
// instead, under upstream's names: see export_npz_stacked.h. Padding and points that are not finite are in there: the arrays are what the
// network said. Throws Error{kInvalidArgument} for a scene that check_scene refuses, Error{kIoError, kNotFound} naming the path.
void export_npz(const Scene& scene, const std::filesystem::path& path, const NpzExportOptions& options = {});

}  // namespace pointmap
