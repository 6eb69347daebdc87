// The table of file formats: what each is called and who writes it. A new format is a line here and a word in pointmap/export.h.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pointmap/export.h"
#include "scene/confidence_filter.h"
#include "scene/point_cloud.h"
#include "scene/scene.h"
#include "scene/surface_mesh.h"

namespace pointmap {

// What exporters are given: the scene, and what those that show points share.
struct ExportJob {
  const Scene& scene;
  const Scene& shown;  // the scene with the points that are asked for: see PointSource
  PointSource source = PointSource::kHead;
  const PointSelection& selection;  // of `shown`; empty unless some exporter wants_cloud
  const PointCloud& cloud;
  const SurfaceMesh& mesh;  // of the same; empty unless glb_mesh is asked for
  const std::filesystem::path& folder;
  const ExportOptions& options;
};

struct Exporter {
  ExportFormat format;
  std::string_view name;
  bool wants_cloud;                                      // reads selection and cloud, which is then not empty
  std::vector<ExportedFile> (*write)(const ExportJob&);  // into job.folder, which is there
  std::string (*refusal)(const Scene&) = nullptr;        // why the scene cannot be written so; empty when it can. Asked before any write
};

// With the folders above it. Throws Error{kIoError} naming it.
void make_folder(const std::filesystem::path& folder);

std::span<const Exporter> exporters();  // in the order of ExportFormat

}  // namespace pointmap
