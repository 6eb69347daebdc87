#include "scene/stored_camera.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/view_transform.h"

namespace pointmap {

namespace {

// What EXIF does to directions in the picture, 2x2: stored = turn * oriented. Entries are 0, 1 and -1.
std::array<double, 4> stored_turn(const ViewTransform& view) {
  const Pixel origin = stored_from_oriented(view, {0, 0});
  const Pixel right = stored_from_oriented(view, {1, 0}), down = stored_from_oriented(view, {0, 1});
  return {right.u - origin.u, down.u - origin.u, right.v - origin.v, down.v - origin.v};
}

bool is_mirrored(const ViewTransform& view) {
  const std::array<double, 4> turn = stored_turn(view);
  return turn[0] * turn[3] - turn[1] * turn[2] < 0;
}

bool is_usable(const Camera& camera) {
  const Intrinsics& k = camera.original;
  const auto finite = [](double x) { return std::isfinite(x); };
  return std::ranges::all_of(camera.world_from_cam.rotation, finite) && std::ranges::all_of(camera.world_from_cam.translation, finite) &&
         finite(k.fx) && finite(k.fy) && finite(k.cx) && finite(k.cy) && k.fx > 0 && k.fy > 0;
}

std::string who(const Scene& scene, size_t index) {
  return "view " + std::to_string(index + 1) + " ('" + scene.views[index].source + "')";
}

}  // namespace

StoredCamera stored_camera(const SceneView& view) {
  const Camera& camera = *view.camera;
  const Intrinsics& k = camera.original;
  const std::array<double, 4> turn = stored_turn(view.transform);
  const RigidTransform stored_from_oriented_cam = {.rotation = {turn[0], turn[1], 0, turn[2], turn[3], 0, 0, 0, 1}};
  const Pixel centre = stored_from_oriented(view.transform, {k.cx, k.cy});
  return {.width = view.transform.stored_width,
          .height = view.transform.stored_height,
          .cam_from_world = compose(stored_from_oriented_cam, inverse(camera.world_from_cam)),
          .intrinsics = {.fx = std::abs(turn[0]) * k.fx + std::abs(turn[1]) * k.fy,
                         .fy = std::abs(turn[2]) * k.fx + std::abs(turn[3]) * k.fy,
                         .cx = centre.u,
                         .cy = centre.v}};
}

std::string camera_refusal(const Scene& scene) {
  bool has_view = false;
  for (size_t i = 0; i < scene.views.size(); ++i) {
    const SceneView& view = scene.views[i];
    if (view.status != "ok") continue;
    has_view = true;
    if (!view.camera) return who(scene, i) + " has no camera: have the cameras found too (--pose)";
    if (!is_usable(*view.camera)) return who(scene, i) + " has a camera with numbers that are not finite, or a focal length not above 0";
  }
  return has_view ? "" : "no view has a camera";
}

std::string stored_camera_refusal(const Scene& scene) {
  if (const std::string refusal = camera_refusal(scene); !refusal.empty()) return refusal;
  for (size_t i = 0; i < scene.views.size(); ++i) {
    const SceneView& view = scene.views[i];
    if (view.status != "ok" || !is_mirrored(view.transform)) continue;
    return who(scene, i) + " is stored mirrored (EXIF orientation " + std::to_string(view.transform.exif_orientation) +
           "), which no turn of a camera expresses: store the photo upright first (mogrify -auto-orient FILE)";
  }
  return "";
}

std::string exif_note(const Scene& scene) {
  std::string views;
  for (size_t i = 0; i < scene.views.size(); ++i) {
    const int orientation = scene.views[i].transform.exif_orientation;
    if (scene.views[i].status != "ok" || orientation == 1) continue;
    views += (views.empty() ? "" : ", ") + std::to_string(i + 1) + " (orientation " + std::to_string(orientation) + ")";
  }
  return views.empty() ? "" : "; EXIF orientation turns these views and their cameras are turned back with the stored pixels: " + views;
}

}  // namespace pointmap
