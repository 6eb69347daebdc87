// A scene as a sparse model of COLMAP, for all that starts from one: COLMAP, gsplat, nerfstudio.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scene/exporters.h"

namespace pointmap {

// Writes into `root`, which is made, and returns what it wrote: sparse/0/{cameras,images,points3D}.bin, the same as text in
// sparse_text/0, and README.txt, which says what the binary files cannot. Images have the numbers of their views, from 1;
// views that look through the same lens share a camera; every point has one observation, the pixel that the network saw it in. The scene
// must be one that stored_camera_refusal does not refuse. Throws Error{kIoError} naming the path.
std::vector<std::filesystem::path> export_colmap(const ExportJob& job, const std::filesystem::path& root);

// The same as one archive at `path`, deflated, names beginning with "colmap/". While it is made, its files lie in a folder beside it.
void export_colmap_zip(const ExportJob& job, const std::filesystem::path& path);

std::string colmap_convention(const Scene& scene);

}  // namespace pointmap
