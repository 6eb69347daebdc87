// A scene's cameras as transforms.json, for nerfstudio, instant-ngp and what else reads it.
#pragma once

#include <filesystem>
#include <string>

#include "pointmap/export.h"
#include "scene/scene.h"

namespace pointmap {

// The scene must be one that stored_camera_refusal does not refuse. When options.formats has PLY the file names scene.ply as its points.
// Throws Error{kIoError, kNotFound} naming the path.
void export_nerfstudio(const Scene& scene, const ExportOptions& options, const std::filesystem::path& path);

std::string nerfstudio_convention(const Scene& scene);

}  // namespace pointmap
