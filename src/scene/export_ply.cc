#include "scene/export_ply.h"

#include "io/ply/ply_writer.h"
#include "scene/scene_meta.h"

namespace pointmap {

void export_ply(const PointCloud& cloud, const Scene& scene, const std::string& generator, const std::filesystem::path& path) {
  const std::string comments[] = {on_one_line("generator: " + generator), on_one_line("model: " + scene.model),
                                  on_one_line(point_convention(scene))};
  write_ply(path, {cloud.positions, cloud.colors, cloud.confidence}, comments);
}

}  // namespace pointmap
