// A scene's points as PLY.
#pragma once

#include <filesystem>
#include <string>

#include "scene/point_cloud.h"

namespace pointmap {

// Header comments say generator, model and convention. Throws Error{kIoError, kNotFound} naming the path.
void export_ply(const PointCloud& cloud, const Scene& scene, const std::string& generator, const std::filesystem::path& path);

}  // namespace pointmap
