#include "scene/exporters.h"

#include <array>
#include <system_error>

#include "base/error.h"
#include "scene/export_colmap.h"
#include "scene/export_depth.h"
#include "scene/export_glb.h"
#include "scene/export_html.h"
#include "scene/export_nerfstudio.h"
#include "scene/export_npz.h"
#include "scene/export_picture.h"
#include "scene/export_ply.h"
#include "scene/export_tum.h"
#include "scene/scene_meta.h"
#include "scene/stored_camera.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;

ExportedFile written(const fs::path& path, ExportFormat format, size_t num_kept, size_t num_total) {
  return {.path = path, .format = format, .bytes = fs::file_size(path), .num_kept = num_kept, .num_total = num_total};
}

ExportedFile written_cloud(const fs::path& path, ExportFormat format, const ExportJob& job) {
  ExportedFile file = written(path, format, job.selection.num_kept, job.selection.num_total);
  file.points = job.source;
  return file;
}

std::vector<ExportedFile> write_npz(const ExportJob& job) {
  const fs::path path = job.folder / "scene.npz";
  export_npz(job.scene, path, {.generator = job.options.generator, .deflate_level = job.options.npz_deflate_level});
  const size_t num_pixels = num_valid_pixels(job.scene);
  ExportedFile file = written(path, ExportFormat::kNpz, num_pixels, num_pixels);
  file.convention = point_convention(job.scene) + "; " + camera_convention(job.scene);
  return {file};
}

std::vector<ExportedFile> write_ply(const ExportJob& job) {
  const fs::path path = job.folder / "scene.ply";
  export_ply(job, path);
  ExportedFile file = written_cloud(path, ExportFormat::kPly, job);
  file.convention = point_convention(job.scene);
  return {file};
}

std::vector<ExportedFile> write_glb(const ExportJob& job) {
  const fs::path path = job.folder / "scene.glb";
  export_glb(job, path);
  ExportedFile file = written_cloud(path, ExportFormat::kGlb, job);
  if (job.options.glb_mesh) file.num_kept = job.mesh.vertices.size();
  file.convention = point_convention(job.scene) + "; the root node turns that to glTF's axes, y up and z backward";
  return {file};
}

std::vector<ExportedFile> write_depth(const ExportJob& job) {
  std::vector<ExportedFile> files;
  const DepthExportOptions options = {.formats = job.options.depth_formats, .generator = job.options.generator};
  for (const DepthFile& depth : export_depth(job.scene, job.folder, options)) {
    files.push_back(written(depth.path, ExportFormat::kDepth, depth.num_valid, depth.num_total));
    files.back().depth_scale = depth.depth_scale;
  }
  return files;
}

std::vector<ExportedFile> write_picture(const ExportJob& job) {
  const fs::path path = job.folder / "cloud.png";
  export_picture(job.shown, job.selection, path);
  return {written_cloud(path, ExportFormat::kPicture, job)};
}

std::vector<ExportedFile> write_colmap(const ExportJob& job) {
  if (job.options.colmap_zip) {
    const fs::path path = job.folder / "colmap.zip";
    export_colmap_zip(job, path);
    ExportedFile file = written_cloud(path, ExportFormat::kColmap, job);
    file.convention = colmap_convention(job.scene);
    return {file};
  }
  std::vector<ExportedFile> files;
  for (const fs::path& path : export_colmap(job, job.folder / "colmap")) {
    const bool has_points = path.stem() == "points3D";
    files.push_back(has_points ? written_cloud(path, ExportFormat::kColmap, job) : written(path, ExportFormat::kColmap, 0, 0));
    files.back().convention = colmap_convention(job.scene);
  }
  return files;
}

std::vector<ExportedFile> write_nerfstudio(const ExportJob& job) {
  const fs::path path = job.folder / "transforms.json";
  export_nerfstudio(job.scene, job.options, path);
  ExportedFile file = written(path, ExportFormat::kNerfstudio, 0, 0);
  file.convention = nerfstudio_convention(job.scene);
  return {file};
}

std::vector<ExportedFile> write_tum(const ExportJob& job) {
  const fs::path path = job.folder / "trajectory.txt";
  export_tum(job.scene, job.options.generator, path);
  ExportedFile file = written(path, ExportFormat::kTum, 0, 0);
  file.convention = tum_convention(job.scene);
  return {file};
}

std::vector<ExportedFile> write_html(const ExportJob& job) {
  const fs::path path = job.folder / "scene.html";
  const HtmlFile html = export_html(
      job.scene, job.shown, path, {.generator = job.options.generator, .percentile = job.options.filter.percentile, .points = job.source});
  ExportedFile file = written(path, ExportFormat::kHtml, html.num_points, html.num_total);
  file.points = job.source;
  return {file};
}

constexpr std::array kExporters = {
    Exporter{ExportFormat::kNpz, "npz", false, write_npz},
    Exporter{ExportFormat::kPly, "ply", true, write_ply},
    Exporter{ExportFormat::kGlb, "glb", true, write_glb},
    Exporter{ExportFormat::kDepth, "depth", false, write_depth},
    Exporter{ExportFormat::kPicture, "picture", true, write_picture},
    Exporter{ExportFormat::kColmap, "colmap", true, write_colmap, stored_camera_refusal},
    Exporter{ExportFormat::kNerfstudio, "nerfstudio", false, write_nerfstudio, stored_camera_refusal},
    Exporter{ExportFormat::kTum, "tum", false, write_tum, camera_refusal},
    Exporter{ExportFormat::kHtml, "html", true, write_html},
};

constexpr bool is_in_order() {
  for (size_t i = 0; i < kExporters.size(); ++i) {
    if (kExporters[i].format != static_cast<ExportFormat>(i)) return false;
  }
  return true;
}
static_assert(is_in_order(), "exporters stand in the order of ExportFormat");

}  // namespace

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error{kIoError, "cannot make the folder '" + folder.string() + "': " + error.message()};
}

std::span<const Exporter> exporters() {
  return kExporters;
}

}  // namespace pointmap
