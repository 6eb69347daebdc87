// A scene's points and cameras as GLB.
#pragma once

#include <filesystem>
#include <string>

#include "scene/point_cloud.h"

namespace pointmap {

// The scene says where the cameras are. asset.extras say generator, model, sources and convention. Throws Error{kLimitExceeded} beyond 4
// GiB, Error{kIoError, kNotFound} naming the path.
void export_glb(const PointCloud& cloud, const Scene& scene, const std::string& generator, const std::filesystem::path& path);

}  // namespace pointmap
