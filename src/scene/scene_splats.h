// A scene's points as pieces of surface.
#pragma once

#include "scene/confidence_filter.h"
#include "scene/render_points.h"
#include "scene/scene.h"

namespace pointmap {

// The selected points, each reaching to its neighbours in the picture. Points that hang between a near and a far
// surface, as networks leave them along edges, are left out: they are much farther from their neighbours than others at their distance.
PointSplats splats_of(const Scene& scene, const PointSelection& selection);

}  // namespace pointmap
