// Complete test scenes: two photographs and everything that is true about them, one folder each; the layout is in README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "pair.h"

namespace pointmap::scene_gen {

// Raised whenever the same seed and index give other bytes than before.
inline constexpr int kGeneratorVersion = 1;

struct SceneFolderOptions {
  PairOptions pair;
  uint64_t first = 0;
  uint64_t count = 1;
  std::filesystem::path out;  // made if missing
  size_t num_threads = 1;
};

// Writes out/scene_00000 and so on, numbered by index. scene.json appears last, so that a folder with one is complete; what an earlier run
// left there is replaced. Throws Error{kIoError, kNotFound} naming the path, Error{kInvalidArgument} for a size out of range.
void write_scene_folders(const Kernel& kernel, const SceneFolderOptions& options);

}  // namespace pointmap::scene_gen
