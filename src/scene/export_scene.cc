#include "scene/export_scene.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/names.h"
#include "scene/exporters.h"
#include "scene/shown_points.h"

namespace pointmap {

namespace fs = std::filesystem;

std::string_view export_format_name(ExportFormat format) {
  return exporters()[static_cast<size_t>(format)].name;
}

std::vector<std::string_view> export_format_names() {
  std::vector<std::string_view> names;
  for (const Exporter& exporter : exporters()) names.push_back(exporter.name);
  return names;
}

std::set<ExportFormat> parse_formats(std::string_view text) {
  const std::vector<std::string_view> names = export_format_names();
  std::set<ExportFormat> formats;
  if (text == "all") {
    for (const Exporter& exporter : exporters()) formats.insert(exporter.format);
    return formats;
  }
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    formats.insert(static_cast<ExportFormat>(index_of_name(names, text.substr(begin, end - begin), "export format")));
    begin = end + 1;
  }
  return formats;
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
  const auto is_wanted = [&](const Exporter& exporter) { return options.formats.contains(exporter.format); };
  const bool wants_cloud = std::ranges::any_of(exporters(), [&](const Exporter& e) { return is_wanted(e) && e.wants_cloud; });
  const PointSource source = resolved(options.points, scene);
  const std::optional<Scene> from_depth =
      wants_cloud && source == PointSource::kDepth ? std::optional(scene_from_depth(scene)) : std::nullopt;
  const Scene& shown = from_depth ? *from_depth : scene;
  const PointSelection selection = wants_cloud ? select_points(shown, options.filter) : PointSelection{};
  const PointCloud cloud = wants_cloud ? gather_points(shown, selection) : PointCloud{};
  make_folder(folder);

  const ExportJob job = {
      .scene = scene, .shown = shown, .source = source, .selection = selection, .cloud = cloud, .folder = folder, .options = options};
  std::vector<ExportedFile> files;
  for (const Exporter& exporter : exporters()) {
    if (!is_wanted(exporter)) continue;
    for (ExportedFile& file : exporter.write(job)) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace pointmap
