// A scene as one web page that needs nothing else: points, cameras and the viewer.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "pointmap/export.h"
#include "scene/scene.h"

namespace pointmap {

struct HtmlExportOptions {
  std::string generator = "pointmap";       // program and version
  double percentile = 0;                    // where the confidence slider starts; the page holds all points
  PointSource points = PointSource::kHead;  // what `shown` shows: kHead or kDepth
  size_t max_points = 4'000'000;            // beyond it an even share: a point takes 12 bytes of page, and browsers become slow
};

struct HtmlFile {
  size_t num_points = 0;
  size_t num_total = 0;  // valid pixels
};

// scene: what is said about the views; shown: the same views with the points that are drawn (see PointSource). The page's elements and
// bytes are described in web/viewer/README.md; names of files and models cannot leave the JSON they stand in. Throws
// Error{kInvalidArgument} for a scene that check_scene refuses or that has no finite point, Error{kIoError, kNotFound} naming the path.
HtmlFile export_html(const Scene& scene, const Scene& shown, const std::filesystem::path& path, const HtmlExportOptions& options = {});

}  // namespace pointmap
