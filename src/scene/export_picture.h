// One picture that shows what a reconstruction is worth: the photo, its depth, and the points from another place.
#pragma once

#include <filesystem>

#include "scene/confidence_filter.h"
#include "scene/scene.h"

namespace pointmap {

// Depth as colours, [H, W, 3] of the view: near is warm, far is blue, by rank of 1/z between the 2nd and the 98th percentile, so that
// outliers do not eat the range; grey where there is no depth. z is that of the view's points in the frame of the first view.
Image depth_picture(const SceneView& view);

// Photo 1, its depth, and the selected points seen from the right and above, side by side, each with the photo's shape and a height or
// width of 640 pixels.
Image scene_picture(const Scene& scene, const PointSelection& selection);

// scene_picture as PNG. Throws Error{kIoError, kNotFound} naming the path.
void export_picture(const Scene& scene, const PointSelection& selection, const std::filesystem::path& path);

}  // namespace pointmap
