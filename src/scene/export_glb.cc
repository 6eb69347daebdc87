#include "scene/export_glb.h"

#include "io/glb/glb_writer.h"
#include "scene/scene_cameras.h"
#include "scene/scene_meta.h"

namespace pointmap {

void export_glb(const PointCloud& cloud, const Scene& scene, const std::string& generator, const std::filesystem::path& path) {
  std::string source = generator + ", model " + scene.model + ", views";
  for (const SceneView& view : scene.views) {
    if (view.status == "ok") source += " '" + view.source + "'";
  }
  write_glb(path, {cloud.positions, cloud.colors}, source + "; " + point_convention(scene), glb_cameras(scene, cloud));
}

}  // namespace pointmap
