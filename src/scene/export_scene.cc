#include "scene/export_scene.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/check.h"
#include "base/names.h"
#include "scene/export_html.h"
#include "scene/exporters.h"
#include "scene/shown_points.h"

namespace pointmap {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 4> kDepthFormats = {"png16", "pfm", "exr", "npy"};  // in the order of DepthFormat

template <typename Enumeration>
std::set<Enumeration> enumerators(const std::set<size_t>& indices) {
  std::set<Enumeration> result;
  for (const size_t index : indices) result.insert(static_cast<Enumeration>(index));
  return result;
}

}  // namespace

std::string_view export_format_name(ExportFormat format) {
  return exporters()[static_cast<size_t>(format)].name;
}

bool needs_cameras(ExportFormat format) {
  return exporters()[static_cast<size_t>(format)].refusal != nullptr;
}

std::vector<std::string_view> export_format_names() {
  std::vector<std::string_view> names;
  for (const Exporter& exporter : exporters()) names.push_back(exporter.name);
  return names;
}

std::set<ExportFormat> parse_formats(std::string_view text) {
  return enumerators<ExportFormat>(indices_of_names(export_format_names(), text, "export format"));
}

std::string_view depth_format_name(DepthFormat format) {
  return kDepthFormats[static_cast<size_t>(format)];
}

std::vector<std::string_view> depth_format_names() {
  return {kDepthFormats.begin(), kDepthFormats.end()};
}

std::set<DepthFormat> parse_depth_formats(std::string_view text) {
  return enumerators<DepthFormat>(indices_of_names(kDepthFormats, text, "depth format"));
}

std::vector<RefusedFormat> refused_formats(const Scene& scene) {
  std::vector<RefusedFormat> refused;
  for (const Exporter& exporter : exporters()) {
    if (exporter.refusal == nullptr) continue;
    if (std::string reason = exporter.refusal(scene); !reason.empty()) refused.push_back({exporter.format, std::move(reason)});
  }
  return refused;
}

std::vector<ExportedFile> export_scene(const Scene& scene, const fs::path& folder, const ExportOptions& options) {
  // Everything that can be refused is refused before the first file appears.
  check_scene(scene);
  for (const RefusedFormat& refused : refused_formats(scene)) {
    POINTMAP_CHECK(!options.formats.contains(refused.format),
                   refused.reason + "; or leave out the format " + std::string(export_format_name(refused.format)));
  }
  POINTMAP_CHECK(!options.depth_formats.empty() || !options.formats.contains(ExportFormat::kDepth), "depth maps in no format");
  const auto is_wanted = [&](const Exporter& exporter) { return options.formats.contains(exporter.format); };
  const bool wants_cloud = std::ranges::any_of(exporters(), [&](const Exporter& e) { return is_wanted(e) && e.wants_cloud; });
  const PointSource source = resolved(options.points, scene);
  const std::optional<Scene> from_depth =
      wants_cloud && source == PointSource::kDepth ? std::optional(scene_from_depth(scene)) : std::nullopt;
  const Scene& shown = from_depth ? *from_depth : scene;
  const PointSelection selection = wants_cloud ? select_points(shown, options.filter) : PointSelection{};
  const PointCloud cloud = wants_cloud ? gather_points(shown, selection) : PointCloud{};
  const bool wants_mesh = options.glb_mesh && options.formats.contains(ExportFormat::kGlb);
  const SurfaceMesh mesh = wants_mesh ? surface_mesh(shown, selection) : SurfaceMesh{};
  make_folder(folder);

  const ExportJob job = {.scene = scene,
                         .shown = shown,
                         .source = source,
                         .selection = selection,
                         .cloud = cloud,
                         .mesh = mesh,
                         .folder = folder,
                         .options = options};
  std::vector<ExportedFile> files;
  for (const Exporter& exporter : exporters()) {
    if (!is_wanted(exporter)) continue;
    for (ExportedFile& file : exporter.write(job)) files.push_back(std::move(file));
  }
  return files;
}

ExportedFile export_page(const Scene& scene, const fs::path& path, const ExportOptions& options) {
  check_scene(scene);
  const PointSource source = resolved(options.points, scene);
  const auto write = [&](const Scene& shown) {
    return export_html(scene, shown, path, {.generator = options.generator, .percentile = options.filter.percentile, .points = source});
  };
  const HtmlFile html = source == PointSource::kDepth ? write(scene_from_depth(scene)) : write(scene);
  return {.path = path,
          .format = ExportFormat::kHtml,
          .bytes = fs::file_size(path),
          .num_kept = html.num_points,
          .num_total = html.num_total,
          .points = source};
}

}  // namespace pointmap
