#include "scene/scene_splats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace pointmap {
namespace {

// In multiples of the view's usual spacing: steep surfaces are spread wide, but what is spread wider hangs in the air.
constexpr float kMaxSpacing = 12;

using Vector = std::array<float, 3>;

float length(const Vector& v) {
  return std::hypot(v[0], v[1], v[2]);
}

// One step from the steps on both sides of a pixel: their mean where they are alike, which evens out noise; at an edge the shorter, on the
// pixel's own side of it. Not finite when neither is.
Vector between(const Vector& a, const Vector& b) {
  constexpr float kAlike = 2;
  const bool is_a_shorter = length(a) <= length(b) || std::isnan(length(b));
  const Vector& shorter = is_a_shorter ? a : b;
  const Vector& longer = is_a_shorter ? b : a;
  if (!(length(longer) <= kAlike * length(shorter))) return shorter;
  return {(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2};
}

// Steps from a pixel's point to the points of the next pixels.
struct Steps {
  Vector right = {};
  Vector down = {};
  float spacing() const { return std::max(length(right), length(down)); }  // NaN or infinite when there is no neighbour
};

// Over pixels of a view; steps from the left and the upper neighbour count the other way round.
std::vector<Steps> steps_of(const SceneView& view) {
  const int width = view.image.width;
  const int height = view.image.height;
  constexpr float kNone = std::numeric_limits<float>::infinity();
  const auto point = [&](int u, int v) {
    return &view.points[3 * (static_cast<size_t>(v) * static_cast<size_t>(width) + static_cast<size_t>(u))];
  };
  const auto step = [&](int u, int v, int du, int dv) -> Vector {
    if (u + du < 0 || u + du >= width || v + dv < 0 || v + dv >= height) return {kNone, kNone, kNone};
    const float* from = point(u, v);
    const float* to = point(u + du, v + dv);
    const auto sign = static_cast<float>(du + dv);
    return {sign * (to[0] - from[0]), sign * (to[1] - from[1]), sign * (to[2] - from[2])};
  };
  std::vector<Steps> steps;
  steps.reserve(view.confidence.size());
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      steps.push_back({.right = between(step(u, v, 1, 0), step(u, v, -1, 0)), .down = between(step(u, v, 0, 1), step(u, v, 0, -1))});
    }
  }
  return steps;
}

// Spacing grows with distance from the camera; their usual ratio is the angle between two pixels. The view's camera, or the world's
// origin where it is not known.
class UsualSpacing {
 public:
  UsualSpacing(const SceneView& view, const std::vector<uint32_t>& pixels, const std::vector<Steps>& steps) {
    if (view.camera) {
      for (size_t c = 0; c < 3; ++c) eye_[c] = static_cast<float>(view.camera->world_from_cam.translation[c]);
    }
    std::vector<float> ratios;
    for (const uint32_t pixel : pixels) {
      const float far = distance_to(&view.points[3 * size_t{pixel}]);
      const float spacing = steps[pixel].spacing();
      if (far > 0 && std::isfinite(spacing)) ratios.push_back(spacing / far);
    }
    if (ratios.empty()) return;
    const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    ratio_ = *middle;
  }
  float at(const float* point) const { return ratio_ * distance_to(point); }

 private:
  float distance_to(const float* point) const { return length({point[0] - eye_[0], point[1] - eye_[1], point[2] - eye_[2]}); }

  Vector eye_ = {};
  float ratio_ = 0;
};

}  // namespace

PointSplats splats_of(const Scene& scene, const PointSelection& selection) {
  PointSplats splats;
  for (size_t i = 0; i < scene.views.size(); ++i) {
    const SceneView& view = scene.views[i];
    if (selection.pixels[i].empty()) continue;
    const std::vector<Steps> steps = steps_of(view);
    const UsualSpacing usual(view, selection.pixels[i], steps);
    for (const size_t pixel : selection.pixels[i]) {
      const float* point = &view.points[3 * pixel];
      const auto& [right, down] = steps[pixel];
      if (!(steps[pixel].spacing() <= kMaxSpacing * usual.at(point))) continue;
      splats.positions.insert(splats.positions.end(), point, point + 3);
      splats.tangents_u.insert(splats.tangents_u.end(), right.begin(), right.end());
      splats.tangents_v.insert(splats.tangents_v.end(), down.begin(), down.end());
      splats.colors.insert(splats.colors.end(), &view.image.rgb[3 * pixel], &view.image.rgb[3 * pixel] + 3);
    }
  }
  return splats;
}

}  // namespace pointmap
