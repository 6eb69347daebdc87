// A scene's points as PLY.
#pragma once

#include <filesystem>

#include "scene/exporters.h"

namespace pointmap {

// The job's cloud, with normals (see surface_normals) where its options ask for them. Header comments say generator, model, convention and
// how many points were kept of how many. Throws Error{kIoError, kNotFound} naming the path.
void export_ply(const ExportJob& job, const std::filesystem::path& path);

}  // namespace pointmap
