#include "scene/scene_cameras.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "geometry/pinhole.h"

namespace pointmap {

namespace {

constexpr double kPyramidShare = 0.05;

// The photo's camera, not the network's: padding is not part of what it sees. The photo's middle is taken for the principal point, the
// only one that glTF knows; the pyramid shows the true one.
GlbCamera glb_camera(const SceneView& view, size_t index, double height) {
  const Camera& camera = *view.camera;
  const Intrinsics& k = camera.original;
  const double photo_width = view.transform.oriented_width(), photo_height = view.transform.oriented_height();
  GlbCamera result{.name = "camera " + std::to_string(index + 1) + ": " + view.source,
                   .rotation = camera.world_from_cam.rotation,
                   .position = camera.world_from_cam.translation,
                   .fov_y_rad = 2 * std::atan(photo_height / 2 / k.fy),
                   .aspect = (photo_width / k.fx) / (photo_height / k.fy)};
  const double left = -0.5, top = -0.5, right = photo_width - 0.5, bottom = photo_height - 0.5;
  const std::array<Pixel, 4> corners = {{{left, top}, {right, top}, {right, bottom}, {left, bottom}}};
  for (size_t i = 0; i < corners.size(); ++i) {
    const Point3 corner = unproject(k, corners[i], height);
    for (size_t axis = 0; axis < 3; ++axis) result.base_corners[i][axis] = static_cast<float>(corner[axis]);
  }
  return result;
}

bool can_be_held(const GlbCamera& camera) {
  const auto finite = [](double x) { return std::isfinite(x); };
  return std::ranges::all_of(camera.rotation, finite) && std::ranges::all_of(camera.position, finite) && camera.fov_y_rad > 0 &&
         camera.aspect > 0 && std::isfinite(camera.aspect) &&
         std::ranges::all_of(camera.base_corners, [&](const auto& corner) { return std::ranges::all_of(corner, finite); });
}

}  // namespace

std::vector<GlbCamera> glb_cameras(const Scene& scene, const PointCloud& cloud) {
  std::vector<GlbCamera> cameras;
  const double diagonal = extent_of(cloud).diagonal;
  const double height = kPyramidShare * (diagonal > 0 ? diagonal : 1);
  for (size_t i = 0; i < scene.views.size(); ++i) {
    if (!scene.views[i].camera) continue;
    GlbCamera camera = glb_camera(scene.views[i], i, height);
    if (can_be_held(camera)) cameras.push_back(std::move(camera));
  }
  return cameras;
}

}  // namespace pointmap
