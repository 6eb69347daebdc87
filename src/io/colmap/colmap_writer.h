// Writes sparse models for COLMAP and all that reads its files: gsplat, nerfstudio, OpenMVS.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "io/colmap/colmap_model.h"

namespace pointmap {

// cameras.bin, images.bin and points3D.bin in `folder`, which must be there. Throws what check_colmap_model throws,
// Error{kIoError, kNotFound} naming the path.
void write_colmap_binary(const std::filesystem::path& folder, const ColmapModel& model);

// The same as cameras.txt, images.txt and points3D.txt: every number reads back as the very same double. `comments` go on top of each file,
// one line each, without line breaks. Blanks and line breaks in the names of images are '_'.
void write_colmap_text(const std::filesystem::path& folder, const ColmapModel& model, std::span<const std::string> comments = {});

}  // namespace pointmap
