// How far a view's points lie from those of the next pixels, and how far is too far: what splats, normals and meshes know of the surface.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "scene/scene.h"

namespace pointmap {

using Vector3f = std::array<float, 3>;

inline float length(const Vector3f& v) {
  return std::hypot(v[0], v[1], v[2]);
}

// Steps from a pixel's point to the points of the pixels to its right and below.
struct PixelSteps {
  Vector3f right = {};
  Vector3f down = {};
  // The longer; NaN or infinite when there is no neighbour along the row or none along the column.
  float spacing() const {
    const float sum = length(right) + length(down);
    return std::isfinite(sum) ? std::max(length(right), length(down)) : sum;
  }
};

// [H, W], in the world. From the neighbours on both sides where they are alike, which evens out noise; at an edge from the nearer, on the
// pixel's own side of it. Pixels that are not valid (padding, outside the mask) are no neighbours. Not finite without any.
std::vector<PixelSteps> pixel_steps(const SceneView& view);

// Spacing grows with distance from the camera; their usual ratio is the angle between two pixels. From the view's camera, or from the
// world's origin where it is not known.
class UsualSpacing {
 public:
  // `pixels`: flat indices of those that count.
  UsualSpacing(const SceneView& view, const std::vector<uint32_t>& pixels, const std::vector<PixelSteps>& steps);

  // Whether a surface can reach so far from `point`: steep ones are spread wide, but what is spread wider than 12 times the usual hangs in
  // the air, or jumps from near to far.
  bool can_span(float distance, const float* point) const { return distance <= kMaxSpacing * ratio_ * distance_to(point); }

 private:
  static constexpr float kMaxSpacing = 12;
  float distance_to(const float* point) const { return length({point[0] - eye_[0], point[1] - eye_[1], point[2] - eye_[2]}); }

  Vector3f eye_ = {};
  float ratio_ = 0;
};

}  // namespace pointmap
