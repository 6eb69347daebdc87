// Which way the surface faces at every point, from the pixels around it.
#pragma once

#include <vector>

#include "scene/confidence_filter.h"
#include "scene/scene.h"

namespace pointmap {

// [H, W, 3] in the world, of unit length: across the steps to the next pixels (pixel_steps), towards the camera; where the camera is not
// known, towards the side that the order of the pixels shows. One-sided at the picture's border and along edges in depth. Zero where there
// is no surface to speak of: no neighbour along a row or a column that is near enough to be of the same surface, or no finite point. Does
// not depend on the confidence filter. As rough as the points are: nothing is smoothed.
std::vector<float> surface_normals(const SceneView& view);

// Of the selected points, in gather_points' order: [N, 3].
std::vector<float> gather_normals(const Scene& scene, const PointSelection& selection);

}  // namespace pointmap
