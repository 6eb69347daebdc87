// A scene as arrays under the names that users of upstream VGGT know, all views of a size stacked.
#pragma once

#include "io/npz/npz_writer.h"
#include "scene/scene.h"

namespace pointmap {

// Whether the scene has what the stacked form holds: a pose encoding for every view that is ok.
bool is_stackable(const Scene& scene);

// Of the S views that are ok, in their order, float32: images [S, 3, H, W] in [0, 1], depth [S, H, W, 1], depth_conf [S, H, W],
// world_points [S, H, W, 3], world_points_conf [S, H, W], pose_enc [S, 9], extrinsic [S, 3, 4] (camera from world) and intrinsic [S, 3, 3]
// (network pixels); float64 and ours: original_intrinsic [S, 3, 3], in pixels of the photo after EXIF orientation; uint8 and ours, only if
// some view has a mask: masks [S, H, W], 0 where it leaves the photo out.
// Throws Error{kInvalidArgument} when the views' sizes differ or something is missing.
void add_stacked_arrays(NpzWriter& writer, const Scene& scene);

}  // namespace pointmap
