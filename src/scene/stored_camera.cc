#include "scene/stored_camera.h"

#include <array>
#include <cmath>

#include "geometry/focal.h"
#include "geometry/rigid_transform.h"
#include "geometry/view_transform.h"

namespace pointmap {

namespace {

bool is_usable(const Camera& camera) {
  return is_finite(camera.world_from_cam) && is_usable_lens(camera.original);
}

std::string who(const Scene& scene, size_t index) {
  return "view " + std::to_string(index + 1) + " ('" + scene.views[index].source + "')";
}

}  // namespace

StoredCamera stored_camera(const SceneView& view) {
  const Camera& camera = *view.camera;
  const Intrinsics& k = camera.original;
  const RigidTransform turned = stored_from_oriented_cam(view.transform);
  const std::array<double, 9>& turn = turned.rotation;  // its entries are 0, 1 and -1
  const Pixel centre = stored_from_oriented(view.transform, {k.cx, k.cy});
  return {.width = view.transform.stored_width,
          .height = view.transform.stored_height,
          .cam_from_world = compose(turned, inverse(camera.world_from_cam)),
          .intrinsics = {.fx = std::abs(turn[0]) * k.fx + std::abs(turn[1]) * k.fy,
                         .fy = std::abs(turn[3]) * k.fx + std::abs(turn[4]) * k.fy,
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
    if (view.status != "ok" || !is_stored_mirrored(view.transform)) continue;
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
