#include "scene/view_maps.h"

#include <algorithm>
#include <cmath>

#include "scene/confidence_filter.h"

namespace pointmap {
namespace {

constexpr double kMaxValue = 65535;

// value_at(pixel) for valid pixels; what is not a finite number above 0 is none.
template <typename Value>
ViewMap map_of(const SceneView& view, const Value& value_at) {
  ViewMap map;
  map.values.resize(view.confidence.size());
  const std::vector<uint8_t> is_valid = valid_mask(view);
  for (size_t pixel = 0; pixel < map.values.size(); ++pixel) {
    if (is_valid[pixel] == 0) continue;
    ++map.num_total;
    const float value = value_at(pixel);
    if (!(value > 0) || !std::isfinite(value)) continue;
    map.values[pixel] = value;
    ++map.num_valid;
  }
  return map;
}

}  // namespace

ViewMap depth_map(const SceneView& view) {
  if (!view.depth.empty()) return map_of(view, [&](size_t pixel) { return view.depth[pixel]; });
  return map_of(view, [&](size_t pixel) { return is_finite_point(view, pixel) ? view.points[3 * pixel + 2] : 0; });
}

ViewMap confidence_map(const SceneView& view) {
  const std::vector<float>& confidence = view.depth_confidence.empty() ? view.confidence : view.depth_confidence;
  return map_of(view, [&](size_t pixel) { return confidence[pixel]; });
}

Map16 quantized(const ViewMap& map) {
  Map16 result;
  const float largest = map.values.empty() ? 0 : *std::ranges::max_element(map.values);
  if (largest > 0) result.scale = largest / kMaxValue;
  result.values.reserve(map.values.size());
  for (const float value : map.values) {
    // The quotient can round to just above 65535 for the largest.
    const double steps = value > 0 ? std::clamp(std::round(value / result.scale), 1.0, kMaxValue) : 0;
    result.values.push_back(static_cast<uint16_t>(steps));
  }
  return result;
}

}  // namespace pointmap
