// A scene of numbers that are exact in binary, so that readers can be held to the last bits.
#pragma once

#include <filesystem>
#include <string>

#include "scene/scene.h"

namespace pointmap {

// Two views of 8 x 6 network pixels, photos of 16 x 12 pixels seen at half size: 'photos/left.png' at the origin, and 'photos/right.png' at
// (1, 2, 3) with a quarter turn to the right, so that it looks along the world's x. The pixel (u, v) is a point 2 or 4 in front of its
// camera, exactly on its ray; confidences count up from 1.
Scene exact_scene();

// The same view of a photo that is stored otherwise: EXIF orientation 1 to 8, pixels of 12 x 16 where it swaps the axes.
void store_with_orientation(SceneView& view, int exif_orientation);

// A folder of this process's own, gone at the end of the test.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string content_of(const std::filesystem::path& path);

}  // namespace pointmap
