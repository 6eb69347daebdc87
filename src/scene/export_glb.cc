#include "scene/export_glb.h"

#include "io/glb/glb_writer.h"
#include "scene/scene_meta.h"

namespace pointmap {

void export_glb(const PointCloud& cloud, const Scene& scene, const std::string& generator, const std::filesystem::path& path) {
  std::string source = generator + ", model " + scene.model + ", views";
  for (const SceneView& view : scene.views) source += " '" + view.source + "'";
  write_glb(path, {cloud.positions, cloud.colors}, source + "; " + std::string(kPointConvention));
}

}  // namespace pointmap
