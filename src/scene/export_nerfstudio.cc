#include "scene/export_nerfstudio.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "geometry/rigid_transform.h"
#include "scene/photo_names.h"
#include "scene/scene_meta.h"
#include "scene/stored_camera.h"

namespace pointmap {

namespace {

using nlohmann::ordered_json;

// nerfstudio puts (0.5, 0.5) at the centre of the top-left pixel, we put (0, 0) there.
constexpr double kTheirsFromOurs = 0.5;

ordered_json lens_json(const StoredCamera& camera) {
  const Intrinsics& k = camera.intrinsics;
  return {{"w", camera.width}, {"h", camera.height},           {"fl_x", k.fx},
          {"fl_y", k.fy},      {"cx", k.cx + kTheirsFromOurs}, {"cy", k.cy + kTheirsFromOurs}};
}

// 4x4, world from a camera with OpenGL's axes: x as ours, y and z the other way.
ordered_json transform_matrix(const StoredCamera& camera) {
  const RigidTransform world_from_cam = inverse(camera.cam_from_world);
  ordered_json rows = ordered_json::array();
  for (size_t r = 0; r < 3; ++r) {
    const double* row = &world_from_cam.rotation[3 * r];
    // + 0.0: no negative zeros
    rows.push_back({row[0] + 0.0, 0.0 - row[1], 0.0 - row[2], world_from_cam.translation[r] + 0.0});
  }
  rows.push_back({0.0, 0.0, 0.0, 1.0});
  return rows;
}

}  // namespace

std::string nerfstudio_convention(const Scene& scene) {
  return "transform_matrix takes points from the camera (OpenGL's axes: x right, y up, z backward) to the world, which is " +
         world_description(scene) + " with x right, y down, z forward, " + scale_description(scene) +
         "; scene.ply is in the same world; fl_x, fl_y, cx and cy are in pixels of the photo as it is stored, EXIF orientation not "
         "applied, with (0.5, 0.5) the centre of the top-left pixel" +
         exif_note(scene);
}

void export_nerfstudio(const Scene& scene, const ExportOptions& options, const std::filesystem::path& path) {
  ordered_json frames = ordered_json::array();
  ordered_json lenses = ordered_json::array();
  const PhotoNames names = photo_names(scene);
  for (size_t i = 0; i < scene.views.size(); ++i) {
    const SceneView& view = scene.views[i];
    if (view.status != "ok") continue;
    const StoredCamera camera = stored_camera(view);
    ordered_json& frame = frames.emplace_back();
    frame["file_path"] = options.photos_beside ? names.names[i] : path_from_folder(view.source, path.parent_path());
    frame["transform_matrix"] = transform_matrix(camera);
    lenses.push_back(lens_json(camera));
    frame["view"] = i + 1;
    frame["exif_orientation"] = view.transform.exif_orientation;
  }

  // OPENCV without distortion is a pinhole; PINHOLE itself is not among the names that nerfstudio's description gives.
  ordered_json json = {{"generator", options.generator},
                       {"model", scene.model},
                       {"convention", nerfstudio_convention(scene)},
                       {"scale", {{"metric", scene.scale.is_metric}, {"source", scene.scale.source}}},
                       {"camera_model", "OPENCV"}};
  for (const char* distortion : {"k1", "k2", "p1", "p2"}) json[distortion] = 0.0;
  const bool is_one_lens = std::ranges::all_of(lenses, [&](const ordered_json& lens) { return lens == lenses[0]; });
  if (is_one_lens) json.update(lenses[0]);
  for (size_t i = 0; !is_one_lens && i < frames.size(); ++i) frames[i].update(lenses[i]);
  // Tells nerfstudio that nobody has turned the world: scene.ply and the cameras need nothing done to them.
  json["applied_transform"] = {{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}};
  if (options.formats.contains(ExportFormat::kPly)) json["ply_file_path"] = "scene.ply";
  json["frames"] = std::move(frames);
  // A file name that is no UTF-8 cannot be said in JSON: its bytes are replaced.
  write_file(path, json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace pointmap
