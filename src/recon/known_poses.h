// Cameras that the caller knows take the place of those that a network found, and bring everything else to their scale.
#pragma once

#include "pointmap/pointmap.h"
#include "scene/scene.h"

namespace pointmap {

// scene.views are the photos', in their order, and have cameras where they are ok. The world becomes the camera of the first view that is
// ok. Every view's points keep their place in its own camera frame, scaled by the ratio of how far the known and the found cameras are
// spread (of two: by the ratio of their distances). Says in report.known how it went. When the network's cameras say no scale, the scene is
// as before; when the known ones are all in one place, they are taken and the scale stays unknown.
void apply_known_poses(Scene& scene, const KnownPoses& poses, RunReport& report);

}  // namespace pointmap
