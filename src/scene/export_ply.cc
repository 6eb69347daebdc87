#include "scene/export_ply.h"

#include "io/ply/ply_writer.h"
#include "scene/scene_meta.h"
#include "scene/surface_normals.h"

namespace pointmap {

void export_ply(const ExportJob& job, const std::filesystem::path& path) {
  // A line break in a model's path would end the comment and break the header.
  std::vector<std::string> comments = {on_one_line("generator: " + job.options.generator), on_one_line("model: " + job.scene.model),
                                       on_one_line(point_convention(job.scene)), kept_description(job.selection)};
  std::vector<float> normals;
  if (job.options.ply_normals) {
    normals = gather_normals(job.shown, job.selection);
    comments.push_back("nx ny nz: across the steps to the neighbouring pixels, towards the camera; 0 0 0 where none is near enough");
  }
  write_ply(path, {job.cloud.positions, job.cloud.colors, job.cloud.confidence, normals}, comments);
}

}  // namespace pointmap
