// How long every file format takes for a scene of two million points: seconds and megabytes, one format at a time, as a user waits for it.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>

#include "base/cpu_info.h"
#include "base/error.h"
#include "base/stopwatch.h"
#include "geometry/pinhole.h"
#include "geometry/rigid_transform.h"
#include "scene/export_scene.h"
#include "scene/exporters.h"

namespace pointmap::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kWidth = 512, kHeight = 392;  // the networks' usual sizes
constexpr size_t kViews = 10;               // 2.007 million points
constexpr int kRuns = 3;

// A wavy wall with texture, seen from places along a line: neither flat colours, which would pack too well, nor noise.
SceneView view_number(size_t number) {
  SceneView view;
  view.source = "photo_" + std::to_string(number + 1) + ".jpg";
  view.image = {kWidth, kHeight, {}};
  view.transform = {.stored_width = kWidth, .stored_height = kHeight, .network_width = kWidth, .network_height = kHeight};
  const Intrinsics lens = {.fx = 450, .fy = 450, .cx = (kWidth - 1) / 2.0, .cy = (kHeight - 1) / 2.0};
  view.camera = {.world_from_cam = {.translation = {0.1 * static_cast<double>(number), 0, 0}}, .network = lens, .original = lens};
  unsigned int noise = static_cast<unsigned int>(number) + 1;
  for (int v = 0; v < kHeight; ++v) {
    for (int u = 0; u < kWidth; ++u) {
      noise = noise * 1664525u + 1013904223u;
      const double grain = (noise >> 24) / 255.0;
      const double depth = 3 + 0.3 * std::sin(0.02 * u) + 0.2 * std::cos(0.03 * v) + 0.002 * grain;
      view.depth.push_back(static_cast<float>(depth));
      const Point3 in_cam = unproject(lens, {static_cast<double>(u), static_cast<double>(v)}, depth);
      for (const double x : transform_point(view.camera->world_from_cam, in_cam)) view.points.push_back(static_cast<float>(x));
      view.confidence.push_back(static_cast<float>(1 + 20 * grain));
      const auto shade = static_cast<uint8_t>(128 + 100 * std::sin(0.05 * (u + v)) + 20 * grain);
      view.image.rgb.insert(view.image.rgb.end(), {shade, static_cast<uint8_t>(255 - shade), static_cast<uint8_t>(u / 2)});
    }
  }
  return view;
}

struct Row {
  std::string name;
  ExportOptions options;
};

std::vector<Row> rows() {
  std::vector<Row> rows;
  for (const Exporter& exporter : exporters()) {
    const std::string name(exporter.name);
    if (exporter.format != ExportFormat::kDepth) rows.push_back({name, {.formats = {exporter.format}}});
    if (exporter.format == ExportFormat::kPly) rows.push_back({"ply, normals", {.formats = {exporter.format}, .ply_normals = true}});
    if (exporter.format == ExportFormat::kGlb) rows.push_back({"glb, mesh", {.formats = {exporter.format}, .glb_mesh = true}});
    if (exporter.format != ExportFormat::kDepth) continue;
    for (const std::string_view depth : depth_format_names()) {
      rows.push_back({name + ", " + std::string(depth), {.formats = {exporter.format}, .depth_formats = parse_depth_formats(depth)}});
    }
  }
  return rows;
}

void measure(const Scene& scene, const Row& row, const fs::path& folder) {
  double best = std::numeric_limits<double>::infinity(), worst = 0;
  uint64_t bytes = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Stopwatch watch;
    const std::vector<ExportedFile> files = export_scene(scene, folder, row.options);
    const double seconds = watch.elapsed_ms() / 1000;
    best = std::min(best, seconds);
    worst = std::max(worst, seconds);
    bytes = 0;
    for (const ExportedFile& file : files) bytes += file.bytes;
    fs::remove_all(folder);
  }
  std::printf("%-14s %8.3f %8.3f %9.1f\n", row.name.c_str(), best, worst, static_cast<double>(bytes) / 1e6);
  std::fflush(stdout);
}

int run(const fs::path& parent) {
  Scene scene;
  scene.model = "bench";
  for (size_t i = 0; i < kViews; ++i) scene.views.push_back(view_number(i));
  const CpuInfo cpu = read_cpu_info();
  std::printf("%s, %d cores, one thread; %zu points in %zu views; into %s\n", cpu.model_name.c_str(), cpu.available_cores,
              num_valid_pixels(scene), kViews, parent.c_str());
  std::printf("%-14s %8s %8s %9s\n", "format", "best s", "worst s", "MB");
  for (const Row& row : rows()) measure(scene, row, parent / ("pointmap_bench_" + std::to_string(::getpid())));
  return 0;
}

}  // namespace
}  // namespace pointmap::bench

int main(int argc, char** argv) {
  if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
    std::fprintf(
        stderr,
        "usage: bench_exports [FOLDER]\nWrites into a folder of its own below FOLDER (default: the system's for temporary files), and "
        "removes it.\n");
    return 2;
  }
  try {
    return pointmap::bench::run(argc > 1 ? std::filesystem::path(argv[1]) : std::filesystem::temp_directory_path());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_exports: %s\n", error.what());
    return 1;
  }
}
