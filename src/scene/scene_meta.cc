#include "scene/scene_meta.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scene/export_npz_stacked.h"

namespace pointmap {

namespace {

using nlohmann::ordered_json;

ordered_json transform_fields(const ViewTransform& t) {
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

ordered_json intrinsics_json(const Intrinsics& k) {
  return {{"fx", k.fx}, {"fy", k.fy}, {"cx", k.cx}, {"cy", k.cy}};
}

ordered_json camera_fields(const Camera& camera, const ViewTransform& t) {
  ordered_json rows = ordered_json::array();  // 4x4
  const RigidTransform& pose = camera.world_from_cam;
  for (size_t r = 0; r < 3; ++r) {
    rows.push_back({pose.rotation[3 * r], pose.rotation[3 * r + 1], pose.rotation[3 * r + 2], pose.translation[r]});
  }
  rows.push_back({0.0, 0.0, 0.0, 1.0});
  return {{"world_from_cam", rows},
          {"network", intrinsics_json(camera.network)},
          {"original", intrinsics_json(camera.original)},
          {"intrinsics_known", camera.intrinsics_known},
          {"pose_known", camera.pose_known},
          {"original_size", {t.oriented_width(), t.oriented_height()}}};
}

// place: among the views that are stacked, or -1.
ordered_json stacked_view_json(const SceneView& view, int place) {
  ordered_json json = {{"source", view.source}, {"status", view.status}};
  if (place < 0) {
    json["reason"] = view.reason;
  } else {
    json["index"] = place;
    json["transform"] = transform_fields(view.transform);
  }
  return json;
}

ordered_json view_json(const SceneView& view, size_t index) {
  ordered_json arrays = ordered_json::array();
  if (!view.points.empty()) arrays = {view_array_name("pts3d", index), view_array_name("conf", index)};
  if (!view.image.rgb.empty()) arrays.push_back(view_array_name("image", index));
  if (!view.mask.empty()) arrays.push_back(view_array_name("mask", index));
  if (!view.raw.empty()) arrays.push_back(view_array_name("raw", index));
  if (view.camera) {
    for (const char* stem : {"world_from_cam", "intrinsics", "original_intrinsics"}) arrays.push_back(view_array_name(stem, index));
  }
  if (!view.depth.empty()) arrays.push_back(view_array_name("depth", index));
  return {{"source", view.source}, {"status", view.status}, {"arrays", arrays}, {"transform", transform_fields(view.transform)}};
}

}  // namespace

std::string world_description(const Scene& scene) {
  size_t first = 0;
  while (first + 1 < scene.views.size() && scene.views[first].status != "ok") ++first;
  const std::string frame = "the camera frame of view " + std::to_string(first + 1);
  if (scene.world == WorldFrame::kFirstCamera) return frame;
  return frame + " as the network means it: the camera it gives that view is near the identity and left as it is";
}

std::string scale_description(const Scene& scene) {
  return scene.scale.is_metric ? "in metres (" + scene.scale.source + ")" : "scale unknown";
}

std::string point_convention(const Scene& scene) {
  return "points are in " + world_description(scene) + "; x right, y down, z forward, " + scale_description(scene) +
         "; pixel (row, column) of an array is a pixel of the network's input; views count from 1";
}

std::string camera_convention(const Scene& scene) {
  return "world_from_cam: 4x4, takes points from a view's camera frame (x right, y down, z forward) to the world, which is " +
         world_description(scene) +
         "; intrinsics: u = fx x / z + cx, v = fy y / z + cy with (0, 0) the centre of the top-left pixel, for pixels of the network's "
         "input and, original, for the photo after EXIF orientation; depth: z in the view's own camera frame";
}

std::string transform_json(const ViewTransform& transform) {
  return transform_fields(transform).dump();
}

std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string camera_json(const Camera& camera, const ViewTransform& transform) {
  return camera_fields(camera, transform).dump();
}

std::string view_array_name(std::string_view stem, size_t view_index) {
  return std::string(stem) + "_" + std::to_string(view_index + 1);
}

std::string scene_meta_json(const Scene& scene, const std::string& generator) {
  ordered_json meta = {{"format", "pointmap scene"},
                       {"format_version", 1},
                       {"generator", generator},
                       {"model", scene.model},
                       {"model_hash", scene.model_hash},
                       {"convention", point_convention(scene)},
                       {"scale", {{"metric", scene.scale.is_metric}, {"source", scene.scale.source}}},
                       {"transform_convention", kTransformConvention},
                       {"camera_convention", camera_convention(scene)},
                       {"views", ordered_json::array()}};
  const bool stacked = is_stackable(scene);
  if (stacked) meta["stacked"] = "arrays [S, ...] hold the views that have an index, at that index, which counts from 0";
  int place = 0;
  for (size_t i = 0; i < scene.views.size(); ++i) {
    const SceneView& view = scene.views[i];
    meta["views"].push_back(stacked ? stacked_view_json(view, view.status == "ok" ? place++ : -1) : view_json(view, i));
  }
  return meta.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace pointmap
