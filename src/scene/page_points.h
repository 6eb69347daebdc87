// The points of a scene as the viewer's page holds them: a few bytes each, ordered so that a confidence threshold is a number of points.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scene/scene.h"

namespace pointmap {

inline constexpr size_t kNumPageClasses = 101;  // percentiles 0 to 100

// One view. Its points stand in the order of their class, 100 first, and within a class in that of their pixels. The class of a point is
// the highest percentile at which ConfidenceFilter keeps it, so that kept[p] points from the start are those that it keeps at p.
struct PagePoints {
  std::array<uint32_t, kNumPageClasses> kept = {};
  // Of class 100 down to 0: the corner with the least coordinates of the class's box, and a 65535th of its sides, x y z each.
  std::vector<float> boxes;     // [101, 6]; zeros for a class without points
  std::vector<uint16_t> steps;  // [N, 3]: position = corner + step * side; off by half a 65535th of the box at most, and rounding
  std::vector<uint8_t> colors;  // [N, 3]
};

struct PageScene {
  std::vector<PagePoints> views;  // one for each of the scene's, without points for one that is not ok
  size_t num_points = 0;
  size_t num_finite = 0;  // before thinning
  size_t num_total = 0;   // valid pixels
};

// Points that are not valid or not finite are left out; beyond max_points an even share of them is kept. Throws
// Error{kInvalidArgument} for a scene that check_scene refuses, and when no point is left.
PageScene page_scene(const Scene& scene, size_t max_points);

// For tests, and as the definition of the page's bytes: the position of point i of the view.
std::array<float, 3> page_position(const PagePoints& points, size_t i);

}  // namespace pointmap
