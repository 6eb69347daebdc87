// A scene with its truth, from a folder as tools/scene_gen writes it (and as other data sets can be laid out). All distrust of such
// folders lives here.
#pragma once

#include <filesystem>
#include <vector>

#include "geometry/pinhole.h"
#include "geometry/rigid_transform.h"

namespace pointmap {

struct SceneFolder {
  std::filesystem::path folder;
  std::vector<std::filesystem::path> photos;
  std::filesystem::path truth;
};

// The folders below `root`, itself included, that hold a scene.json; sorted. Throws Error{kNotFound} when there is none.
std::vector<std::filesystem::path> find_scene_folders(const std::filesystem::path& root);

// Reads scene.json; photos and truth are checked to exist, not read. Throws Error{kNotFound, kCorruptData, kUnsupported, kLimitExceeded}
// naming the file.
SceneFolder read_scene_folder(const std::filesystem::path& folder);

struct ViewTruth {
  int width = 0;  // of the photo as a person sees it
  int height = 0;
  std::vector<float> depth;  // [H, W], z in the view's camera; what is not finite and above 0 is no truth
  Intrinsics intrinsics;     // in the photo's pixels
  RigidTransform world_from_cam;
};

// Of the first `num_views` views. Throws Error{kNotFound, kCorruptData} naming file and array when one is missing, has another type or
// shape, or is no camera.
std::vector<ViewTruth> read_truth(const SceneFolder& scene, size_t num_views);

}  // namespace pointmap
