// What exported files call the photos.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scene/scene.h"

namespace pointmap {

struct PhotoNames {
  std::string folder;              // the deepest one that holds them all, "." for the working folder
  std::vector<std::string> names;  // [views], relative to it; empty for a view that is not ok
};

// A bare file name where all photos are in one folder; with as much of the path as tells them apart where they are not, so that two files
// never get one name. Bytes as they are, UTF-8 or not. A view without a name of its own is "view_N".
PhotoNames photo_names(const Scene& scene);

// The way from `folder` to a photo, as the file system walks it: links in the folders' names are followed.
std::string path_from_folder(const std::string& photo, const std::filesystem::path& folder);

}  // namespace pointmap
