#include "scene/export_glb.h"

#include "io/glb/glb_writer.h"
#include "scene/scene_cameras.h"
#include "scene/scene_meta.h"

namespace pointmap {

void export_glb(const ExportJob& job, const std::filesystem::path& path) {
  std::string source = job.options.generator + ", model " + job.scene.model + ", views";
  for (const SceneView& view : job.scene.views) {
    if (view.status == "ok") source += " '" + view.source + "'";
  }
  source += "; " + point_convention(job.scene) + "; " + kept_description(job.selection);
  if (job.options.glb_mesh) source += ", of these the ones in a triangle of neighbouring pixels that do not jump in depth";
  const PointCloud& points = job.options.glb_mesh ? job.mesh.vertices : job.cloud;
  const std::vector<GlbCamera> cameras = glb_cameras(job.scene, job.cloud);
  write_glb(path, {.points = {points.positions, points.colors},
                   .triangles = job.mesh.triangles,
                   .cameras = cameras,
                   .source = source,
                   .counts = {{"points", points.size()}, {"pixels", job.selection.num_total}}});
}

}  // namespace pointmap
