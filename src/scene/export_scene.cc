#include "scene/export_scene.h"

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>

#include "base/check.h"
#include "base/names.h"
#include "scene/export_depth.h"
#include "scene/export_glb.h"
#include "scene/export_npz.h"
#include "scene/export_picture.h"
#include "scene/export_ply.h"
#include "scene/point_cloud.h"
#include "scene/shown_points.h"

namespace pointmap {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kFormatNames = {"npz", "ply", "glb", "depth", "picture"};

ExportedFile written(const fs::path& path, ExportFormat format, size_t num_kept, size_t num_total) {
  return {.path = path, .format = format, .bytes = fs::file_size(path), .num_kept = num_kept, .num_total = num_total};
}

void add_depth(const Scene& scene, const fs::path& folder, std::vector<ExportedFile>& files) {
  for (const DepthFile& depth : export_depth(scene, folder)) {
    files.push_back(written(depth.path, ExportFormat::kDepth, depth.num_valid, depth.num_total));
    files.back().depth_scale = depth.scale;
  }
  files.push_back(written(folder / "depth.json", ExportFormat::kDepth, 0, 0));
}

}  // namespace

std::string_view export_format_name(ExportFormat format) {
  return kFormatNames[static_cast<size_t>(format)];
}

std::set<ExportFormat> parse_formats(std::string_view text) {
  std::set<ExportFormat> formats;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    formats.insert(static_cast<ExportFormat>(index_of_name(kFormatNames, text.substr(begin, end - begin), "export format")));
    begin = end + 1;
  }
  return formats;
}

std::vector<ExportedFile> export_scene(const Scene& scene, const fs::path& folder, const ExportOptions& options) {
  // Everything that can be refused is refused before the first file appears.
  check_scene(scene);
  const auto wants = [&](ExportFormat format) { return options.formats.contains(format); };
  const bool wants_cloud = wants(ExportFormat::kPly) || wants(ExportFormat::kGlb) || wants(ExportFormat::kPicture);
  const PointSource source = resolved(options.points, scene);
  const std::optional<Scene> from_depth =
      wants_cloud && source == PointSource::kDepth ? std::optional(scene_from_depth(scene)) : std::nullopt;
  const Scene& shown = from_depth ? *from_depth : scene;
  const PointSelection selection = wants_cloud ? select_points(shown, options.filter) : PointSelection{};
  const PointCloud cloud = wants_cloud ? gather_points(shown, selection) : PointCloud{};
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error{kIoError, "cannot make the folder '" + folder.string() + "': " + error.message()};

  const size_t num_pixels = num_photo_pixels(scene);
  std::vector<ExportedFile> files;
  const auto add_cloud_file = [&](const char* name, ExportFormat format) {
    files.push_back(written(folder / name, format, selection.num_kept, num_pixels));
    files.back().points = source;
  };
  if (wants(ExportFormat::kNpz)) {
    export_npz(scene, folder / "scene.npz", {.generator = options.generator, .deflate_level = options.npz_deflate_level});
    files.push_back(written(folder / "scene.npz", ExportFormat::kNpz, num_pixels, num_pixels));
  }
  if (wants(ExportFormat::kPly)) {
    export_ply(cloud, scene, options.generator, folder / "scene.ply");
    add_cloud_file("scene.ply", ExportFormat::kPly);
  }
  if (wants(ExportFormat::kGlb)) {
    export_glb(cloud, scene, options.generator, folder / "scene.glb");
    add_cloud_file("scene.glb", ExportFormat::kGlb);
  }
  if (wants(ExportFormat::kDepth)) add_depth(scene, folder, files);
  if (wants(ExportFormat::kPicture)) {
    export_picture(shown, selection, folder / "cloud.png");
    add_cloud_file("cloud.png", ExportFormat::kPicture);
  }
  return files;
}

}  // namespace pointmap
