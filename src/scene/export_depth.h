// A scene's depth and confidence as pictures and arrays, one file per view and format, with a JSON file that says what is in them.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "pointmap/export.h"
#include "scene/scene.h"

namespace pointmap {

struct DepthFile {
  std::filesystem::path path;
  double depth_scale = 0;  // the scene's unit of length per step; 1 for floats, 0 for files without depth
  size_t num_valid = 0;    // pixels with a number above 0
  size_t num_total = 0;    // pixels of the photo and within its mask; 0 for depth.json, which has neither
};

struct DepthExportOptions {
  std::set<DepthFormat> formats = {DepthFormat::kPng16};
  std::string generator = "pointmap";  // program and version, for the files that have a place for it
};

// Writes for every view i from 1 whose status is "ok": depth_i.png, .pfm, .exr and .npy, as asked for (all at the network's resolution, top
// row first once read, 0 where there is no depth), and conf_i.png (16 bits, linear). Then depth.json: of each file what it holds, its frame
// and scale; of each view its camera in network and original pixels and the way from one to the other. Returns one entry per file.
// Throws Error{kInvalidArgument} for no format and for a scene that check_scene refuses, Error{kIoError, kNotFound} naming the path.
std::vector<DepthFile> export_depth(const Scene& scene, const std::filesystem::path& folder, const DepthExportOptions& options = {});

}  // namespace pointmap
