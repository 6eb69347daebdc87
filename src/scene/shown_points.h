// Which points of a scene a cloud shows: those of the head for points, or those that depth and camera make.
#pragma once

#include <vector>

#include "pointmap/export.h"
#include "scene/scene.h"

namespace pointmap {

// [H, W, 3] in the world: each pixel at its depth on its ray, in double and rounded at the end, as upstream VGGT does it (specification
// 7.1). Throws Error{kInvalidArgument} naming the view when it has no camera or no depth.
std::vector<float> points_from_depth(const SceneView& view);

// What kAuto means for the scene; the others mean themselves. Depth needs finite cameras everywhere: kAuto then falls back to the head.
PointSource resolved(PointSource source, const Scene& scene);

// The scene with points and confidence that come from depth, and nothing in its views that clouds do not need.
Scene scene_from_depth(const Scene& scene);

}  // namespace pointmap
