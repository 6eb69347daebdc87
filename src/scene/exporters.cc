#include "scene/exporters.h"

#include <array>

#include "scene/export_depth.h"
#include "scene/export_glb.h"
#include "scene/export_npz.h"
#include "scene/export_picture.h"
#include "scene/export_ply.h"

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
  return {written(path, ExportFormat::kNpz, num_pixels, num_pixels)};
}

std::vector<ExportedFile> write_ply(const ExportJob& job) {
  const fs::path path = job.folder / "scene.ply";
  export_ply(job.cloud, job.scene, job.options.generator, path);
  return {written_cloud(path, ExportFormat::kPly, job)};
}

std::vector<ExportedFile> write_glb(const ExportJob& job) {
  const fs::path path = job.folder / "scene.glb";
  export_glb(job.cloud, job.scene, job.options.generator, path);
  return {written_cloud(path, ExportFormat::kGlb, job)};
}

std::vector<ExportedFile> write_depth(const ExportJob& job) {
  std::vector<ExportedFile> files;
  for (const DepthFile& depth : export_depth(job.scene, job.folder)) {
    files.push_back(written(depth.path, ExportFormat::kDepth, depth.num_valid, depth.num_total));
    files.back().depth_scale = depth.scale;
  }
  files.push_back(written(job.folder / "depth.json", ExportFormat::kDepth, 0, 0));
  return files;
}

std::vector<ExportedFile> write_picture(const ExportJob& job) {
  const fs::path path = job.folder / "cloud.png";
  export_picture(job.shown, job.selection, path);
  return {written_cloud(path, ExportFormat::kPicture, job)};
}

constexpr std::array kExporters = {
    Exporter{ExportFormat::kNpz, "npz", false, write_npz},
    Exporter{ExportFormat::kPly, "ply", true, write_ply},
    Exporter{ExportFormat::kGlb, "glb", true, write_glb},
    Exporter{ExportFormat::kDepth, "depth", false, write_depth},
    Exporter{ExportFormat::kPicture, "picture", true, write_picture},
};

constexpr bool is_in_order() {
  for (size_t i = 0; i < kExporters.size(); ++i) {
    if (kExporters[i].format != static_cast<ExportFormat>(i)) return false;
  }
  return true;
}
static_assert(is_in_order(), "exporters stand in the order of ExportFormat");

}  // namespace

std::span<const Exporter> exporters() {
  return kExporters;
}

}  // namespace pointmap
