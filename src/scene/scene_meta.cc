#include "scene/scene_meta.h"

#include <nlohmann/json.hpp>

namespace pointmap {

namespace {

using nlohmann::ordered_json;

ordered_json transform_json(const ViewTransform& t) {
  return {{"exif_orientation", t.exif_orientation},
          {"stored_width", t.stored_width},
          {"stored_height", t.stored_height},
          {"scale_x", t.scale_x},
          {"scale_y", t.scale_y},
          {"offset_x", t.offset_x},
          {"offset_y", t.offset_y},
          {"network_width", t.network_width},
          {"network_height", t.network_height}};
}

ordered_json view_json(const SceneView& view, size_t index) {
  ordered_json arrays = ordered_json::array();
  if (!view.points.empty()) arrays = {view_array_name("pts3d", index), view_array_name("conf", index)};
  if (!view.raw.empty()) arrays.push_back(view_array_name("raw", index));
  if (view.camera) {
    for (const char* stem : {"world_from_cam", "intrinsics", "original_intrinsics"}) arrays.push_back(view_array_name(stem, index));
  }
  if (!view.depth.empty()) arrays.push_back(view_array_name("depth", index));
  return {{"source", view.source}, {"status", view.status}, {"arrays", arrays}, {"transform", transform_json(view.transform)}};
}

}  // namespace

std::string view_array_name(std::string_view stem, size_t view_index) {
  return std::string(stem) + "_" + std::to_string(view_index + 1);
}

std::string scene_meta_json(const Scene& scene, const std::string& generator) {
  ordered_json meta = {{"format", "pointmap scene"},
                       {"format_version", 1},
                       {"generator", generator},
                       {"model", scene.model},
                       {"model_hash", scene.model_hash},
                       {"convention", kPointConvention},
                       {"transform_convention", kTransformConvention},
                       {"camera_convention", kCameraConvention},
                       {"views", ordered_json::array()}};
  for (size_t i = 0; i < scene.views.size(); ++i) meta["views"].push_back(view_json(scene.views[i], i));
  return meta.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace pointmap
