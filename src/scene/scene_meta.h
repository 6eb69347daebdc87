// What a reader of the exported files must know beside the numbers: model, views, frames and units, as JSON.
#pragma once

#include <string>
#include <string_view>

#include "scene/scene.h"

namespace pointmap {

inline constexpr std::string_view kTransformConvention =
    "stored: pixels as in the file; oriented: after EXIF orientation; network: after scaling, cropping and padding. With (0, 0) the centre "
    "of the top-left pixel: oriented + 0.5 = scale * (network + 0.5) + offset, x and y each";

// "the camera frame of view 1", and for VGGT that it is so only nearly. Views count from 1.
std::string world_description(const Scene& scene);
// "scale unknown", or "in metres (...)" with what says so.
std::string scale_description(const Scene& scene);
// Whose frame points are in, its axes, the scale, and what pixels are.
std::string point_convention(const Scene& scene);
// What world_from_cam, intrinsics and depth are.
std::string camera_convention(const Scene& scene);

// Every field of the transform, as a JSON object.
std::string transform_json(const ViewTransform& transform);

// Pose (world_from_cam, rows), intrinsics in network and original pixels, what of it was known, and the photo's size, as a JSON object.
std::string camera_json(const Camera& camera, const ViewTransform& transform);

// The text of the archive's `meta` array: format, generator (program and version), model, conventions, and of each view its source,
// status, the names of its arrays and every field of its transform. UTF-8; file names that are not are repaired.
std::string scene_meta_json(const Scene& scene, const std::string& generator);

// Line breaks become blanks: a file name can hold one, and it would end a comment.
std::string on_one_line(std::string text);

// "pts3d_1" for the first view: arrays and depth maps count views from 1, as DUSt3R does.
std::string view_array_name(std::string_view stem, size_t view_index);

}  // namespace pointmap
