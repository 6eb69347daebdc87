// The cameras of a scene as GLB files show them.
#pragma once

#include <vector>

#include "io/glb/glb_writer.h"
#include "scene/point_cloud.h"
#include "scene/scene.h"

namespace pointmap {

// Of every view that has a camera which glTF can hold (finite, with a field of view). Their pyramids are a twentieth as high as the cloud
// is wide: the diagonal of the box of its middle nine tenths, per axis.
std::vector<GlbCamera> glb_cameras(const Scene& scene, const PointCloud& cloud);

}  // namespace pointmap
