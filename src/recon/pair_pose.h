// The cameras of a pair, from the pointmaps of both directions.
#pragma once

#include <cstdint>

#include "pointmap/pointmap.h"
#include "recon/pair_lenses.h"
#include "recon/swapped_pass.h"
#include "scene/scene.h"

namespace pointmap {

// Which maps a pose needs (specification 6.4). The second camera is found from view 2's points in the frame of camera 1 (head 2 of the
// pass (1, 2)) and its pixels; its focal length from its points in its own frame (head 1 of the pass (2, 1)). So three heads do. Upstream's
// viewer also compares the confidences of both directions and may then want view 1's points in the frame of camera 2: head 2 of (2, 1),
// a third more head time, which PoseMode::kUpstream and kAligned pay for.
bool needs_fourth_map(PoseMode mode);

// Fills camera and depth of both views of `scene`, which holds the maps of the pass (1, 2); the world is the camera of view 1. In
// kReprojected and kUpstream also replaces the points, in kUpstream the confidences. When no camera fits, the second one stands where the
// first does, as upstream does it, and the report says so. Known lenses take the place of estimated ones.
// Throws Error{kInvalidArgument} when there are not two views or the maps' sizes do not fit.
PoseReport solve_pair_pose(Scene& scene, const SwappedPass& swapped, PoseMode mode, const KnownLenses& known = {});

// Memory beside the network for pictures of that many pixels together: the maps of the second pass, depth, and PnP's copies.
uint64_t pair_pose_bytes(uint64_t num_pixels);

}  // namespace pointmap
