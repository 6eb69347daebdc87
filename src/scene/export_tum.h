// A scene's cameras as a trajectory of the TUM benchmark, for evo and other tools that compare trajectories.
#pragma once

#include <filesystem>
#include <string>

#include "scene/scene.h"

namespace pointmap {

// One line for each view that is ok: "timestamp tx ty tz qx qy qz qw", under a head of comments. The scene must be one that camera_refusal
// does not refuse. Throws Error{kIoError, kNotFound} naming the path.
void export_tum(const Scene& scene, const std::string& generator, const std::filesystem::path& path);

std::string tum_convention(const Scene& scene);

}  // namespace pointmap
