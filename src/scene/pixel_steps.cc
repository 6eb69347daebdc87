#include "scene/pixel_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scene/confidence_filter.h"

namespace pointmap {
namespace {

constexpr float kNone = std::numeric_limits<float>::infinity();

// One step from the steps on both sides of a pixel. Not finite when neither is.
Vector3f between(const Vector3f& a, const Vector3f& b) {
  constexpr float kAlike = 2;
  const float length_a = length(a), length_b = length(b);
  const bool is_a_shorter = length_a <= length_b || std::isnan(length_b);
  const float shorter = is_a_shorter ? length_a : length_b, longer = is_a_shorter ? length_b : length_a;
  if (!(longer <= kAlike * shorter)) return is_a_shorter ? a : b;
  return {(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2};
}

}  // namespace

std::vector<PixelSteps> pixel_steps(const SceneView& view) {
  const int width = view.image.width;
  const int height = view.image.height;
  const std::vector<uint8_t> is_valid = valid_mask(view);
  const auto at = [&](int u, int v) { return static_cast<size_t>(v) * static_cast<size_t>(width) + static_cast<size_t>(u); };
  // To the left and up count the other way round.
  const auto step = [&](int u, int v, int du, int dv) -> Vector3f {
    if (u + du < 0 || u + du >= width || v + dv < 0 || v + dv >= height || is_valid[at(u + du, v + dv)] == 0) return {kNone, kNone, kNone};
    const float* from = &view.points[3 * at(u, v)];
    const float* to = &view.points[3 * at(u + du, v + dv)];
    const auto sign = static_cast<float>(du + dv);
    return {sign * (to[0] - from[0]), sign * (to[1] - from[1]), sign * (to[2] - from[2])};
  };
  std::vector<PixelSteps> steps;
  steps.reserve(view.confidence.size());
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      steps.push_back({.right = between(step(u, v, 1, 0), step(u, v, -1, 0)), .down = between(step(u, v, 0, 1), step(u, v, 0, -1))});
    }
  }
  return steps;
}

UsualSpacing::UsualSpacing(const SceneView& view, const std::vector<uint32_t>& pixels, const std::vector<PixelSteps>& steps) {
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

}  // namespace pointmap
