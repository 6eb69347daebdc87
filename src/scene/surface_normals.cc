#include "scene/surface_normals.h"

#include <cmath>

#include "scene/pixel_steps.h"

namespace pointmap {
namespace {

// Of unit length, or zero.
Vector3f unit_cross(const Vector3f& a, const Vector3f& b) {
  const std::array<double, 3> p = {a[0], a[1], a[2]}, q = {b[0], b[1], b[2]};
  const std::array<double, 3> n = {p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]};
  const double size = std::hypot(n[0], n[1], n[2]);
  if (!(size > 0) || !std::isfinite(size)) return {};
  return {static_cast<float>(n[0] / size), static_cast<float>(n[1] / size), static_cast<float>(n[2] / size)};
}

bool faces_away(const Vector3f& normal, const float* point, const Camera& camera) {
  double towards_eye = 0;
  for (size_t c = 0; c < 3; ++c) towards_eye += normal[c] * (camera.world_from_cam.translation[c] - point[c]);
  return towards_eye < 0;
}

}  // namespace

std::vector<float> surface_normals(const SceneView& view) {
  const std::vector<uint8_t> is_valid = valid_mask(view);
  std::vector<uint32_t> pixels;
  for (uint32_t pixel = 0; pixel < is_valid.size(); ++pixel) {
    if (is_valid[pixel] != 0 && is_finite_point(view, pixel)) pixels.push_back(pixel);
  }
  const std::vector<PixelSteps> steps = pixel_steps(view);
  const UsualSpacing usual(view, pixels, steps);
  std::vector<float> normals(view.points.size());
  for (const size_t pixel : pixels) {
    const float* point = &view.points[3 * pixel];
    if (!usual.can_span(steps[pixel].spacing(), point)) continue;
    // Down across right: with x right, y down, z forward that is towards the eye.
    const Vector3f normal = unit_cross(steps[pixel].down, steps[pixel].right);
    const float sign = view.camera && faces_away(normal, point, *view.camera) ? -1.0f : 1.0f;
    // Adding zero makes -0 a plain 0.
    for (size_t c = 0; c < 3; ++c) normals[3 * pixel + c] = sign * normal[c] + 0.0f;
  }
  return normals;
}

std::vector<float> gather_normals(const Scene& scene, const PointSelection& selection) {
  std::vector<float> gathered;
  gathered.reserve(3 * selection.num_kept);
  for (size_t i = 0; i < scene.views.size(); ++i) {
    if (selection.pixels[i].empty()) continue;
    const std::vector<float> normals = surface_normals(scene.views[i]);
    for (const size_t pixel : selection.pixels[i]) gathered.insert(gathered.end(), &normals[3 * pixel], &normals[3 * pixel] + 3);
  }
  return gathered;
}

}  // namespace pointmap
