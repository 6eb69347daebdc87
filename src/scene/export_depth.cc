#include "scene/export_depth.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "io/image/png_encode.h"
#include "scene/confidence_filter.h"
#include "scene/scene_meta.h"

namespace pointmap {

namespace {

constexpr double kMaxValue = 65535;

std::string sidecar(const Scene& scene, const nlohmann::ordered_json& files) {
  const nlohmann::ordered_json document = {
      {"meaning", "depth = value * scale, value 0 = no depth; the unit of length is that of the scene"},
      {"frame",
       "of each file: 'own camera' is z in the camera frame of the view; 'world' is z in the world's, which for views after the first is "
       "not the distance from their own camera"},
      {"convention", point_convention(scene)},
      {"scale", scale_description(scene)},
      {"model", scene.model},
      {"files", files}};
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

DepthMap depth_map(const SceneView& view) {
  DepthMap map;
  const bool has_depth = !view.depth.empty();
  std::vector<float> depth(view.confidence.size());  // [H, W], 0 where there is none
  const std::vector<uint8_t> is_valid = valid_mask(view);
  for (size_t pixel = 0; pixel < depth.size(); ++pixel) {
    if (is_valid[pixel] == 0) continue;
    ++map.num_total;
    const float z = has_depth ? view.depth[pixel] : view.points[3 * pixel + 2];
    const bool is_finite = has_depth ? std::isfinite(z) : is_finite_point(view, pixel);
    if (is_finite && z > 0) depth[pixel] = z;
  }
  const float farthest = depth.empty() ? 0 : *std::max_element(depth.begin(), depth.end());
  if (farthest > 0) map.scale = farthest / kMaxValue;
  map.values.resize(depth.size());
  for (size_t i = 0; i < depth.size(); ++i) {
    if (depth[i] == 0) continue;
    // The quotient can round to just above 65535 for the farthest point.
    map.values[i] = static_cast<uint16_t>(std::clamp(std::round(depth[i] / map.scale), 1.0, kMaxValue));
    ++map.num_valid;
  }
  return map;
}

std::vector<DepthFile> export_depth(const Scene& scene, const std::filesystem::path& folder) {
  check_scene(scene);
  std::vector<DepthFile> files;
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  for (size_t i = 0; i < scene.views.size(); ++i) {
    const SceneView& view = scene.views[i];
    if (view.status != "ok") continue;
    const DepthMap map = depth_map(view);
    const std::string name = view_array_name("depth", i) + ".png";
    write_file(folder / name, encode_png16(map.values, view.image.width, view.image.height));
    files.push_back({folder / name, map.scale, map.num_valid, map.num_total});
    entries.push_back({{"file", name},
                       {"view", i + 1},
                       {"source", view.source},
                       {"frame", view.depth.empty() ? "world" : "own camera"},
                       {"scale", map.scale},
                       {"valid_pixels", map.num_valid},
                       {"photo_pixels", map.num_total}});
  }
  write_file(folder / "depth.json", sidecar(scene, entries));
  return files;
}

}  // namespace pointmap
