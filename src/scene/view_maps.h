// One number per pixel of a view, as files of pictures hold them: depth and confidence.
#pragma once

#include <cstdint>
#include <vector>

#include "scene/scene.h"

namespace pointmap {

struct ViewMap {
  std::vector<float> values;  // [H, W], network pixels; above 0, and 0 where there is none
  size_t num_valid = 0;       // pixels above 0
  size_t num_total = 0;       // pixels that show the photo and are in its mask
};

// The view's depth, in its own camera frame, if it has one; else z of its points, which is in the world, for every view. None where the
// network saw padding, the number (or the point or its confidence) is not finite, or is not in front of the camera.
ViewMap depth_map(const SceneView& view);

// The network's confidence in that depth, above 1: the depth's own where it has one, else that of the points. None in padding, outside
// the mask and where it is not a finite number above 0.
ViewMap confidence_map(const SceneView& view);

// A map in 16 bits: map value = value * scale.
struct Map16 {
  std::vector<uint16_t> values;  // [H, W]; 0 where there is none
  double scale = 1;              // so that the largest has the value 65535; 1 for a map without any
};

// Rounded to the nearest step, at least 1 where there is a number: off by half a step at most, but for numbers below half a step.
Map16 quantized(const ViewMap& map);

}  // namespace pointmap
