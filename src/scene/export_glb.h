// A scene's points and cameras as GLB.
#pragma once

#include <filesystem>

#include "scene/exporters.h"

namespace pointmap {

// The job's cloud, or its mesh where the options ask for one; the scene says where the cameras are. asset.extras say generator, model,
// sources, convention and, as `points` and `pixels`, how many points were kept of how many. Throws Error{kLimitExceeded} beyond 4 GiB,
// Error{kIoError, kNotFound} naming the path.
void export_glb(const ExportJob& job, const std::filesystem::path& path);

}  // namespace pointmap
