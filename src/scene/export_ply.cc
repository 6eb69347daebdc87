#include "scene/export_ply.h"

#include <algorithm>

#include "io/ply/ply_writer.h"
#include "scene/scene_meta.h"

namespace pointmap {

void export_ply(const PointCloud& cloud, const Scene& scene, const std::string& generator, const std::filesystem::path& path) {
  std::string comments[] = {"generator: " + generator, "model: " + scene.model, point_convention(scene)};
  // A line break in a model's path would end the comment and break the header.
  for (std::string& comment : comments)
    std::ranges::replace_if(
        comment, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  write_ply(path, {cloud.positions, cloud.colors, cloud.confidence}, comments);
}

}  // namespace pointmap
