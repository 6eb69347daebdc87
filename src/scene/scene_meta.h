// What a reader of the exported files must know beside the numbers: model, views, frames and units, as JSON.
#pragma once

#include <string>
#include <string_view>

#include "scene/scene.h"

namespace pointmap {

inline constexpr std::string_view kPointConvention =
    "points are in the camera frame of view 1: x right, y down, z forward, scale unknown; pixel (row, column) of an array is a pixel of "
    "the network's input; views count from 1";

inline constexpr std::string_view kTransformConvention =
    "stored: pixels as in the file; oriented: after EXIF orientation; network: after scaling, cropping and padding. With (0, 0) the centre "
    "of the top-left pixel: oriented + 0.5 = scale * (network + 0.5) + offset, x and y each";

inline constexpr std::string_view kCameraConvention =
    "world_from_cam: 4x4, takes points from a view's camera frame (x right, y down, z forward) to the world, which is the camera frame of "
    "view 1; intrinsics: u = fx x / z + cx, v = fy y / z + cy with (0, 0) the centre of the top-left pixel, for pixels of the network's "
    "input and, original, for the photo after EXIF orientation; depth: z in the view's own camera frame";

// The text of the archive's `meta` array: format, generator (program and version), model, conventions, and of each view its source,
// status, the names of its arrays and every field of its transform. UTF-8; file names that are not are repaired.
std::string scene_meta_json(const Scene& scene, const std::string& generator);

// "pts3d_1" for the first view: arrays and depth maps count views from 1, as DUSt3R does.
std::string view_array_name(std::string_view stem, size_t view_index);

}  // namespace pointmap
