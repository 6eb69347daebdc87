#include "recon/known_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>
#include <vector>

#include "geometry/pinhole.h"
#include "scene/confidence_filter.h"
#include "scene/quantile.h"
#include "scene/shown_points.h"

namespace pointmap {
namespace {

constexpr double kOneSurface = 0.05;  // of their distance from the camera: points of neighbouring pixels farther apart are on an edge

double distance_between(const Point3& a, const Point3& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

std::string metres_text(double metres) {
  std::ostringstream text;
  text << metres << " m";
  return text.str();
}

Point3 point_of(const std::vector<float>& points, size_t pixel) {
  return {points[3 * pixel], points[3 * pixel + 1], points[3 * pixel + 2]};
}

// A known length, as the network has it.
struct Measured {
  double length = 0;
  std::string failure;  // why it says nothing
  std::string source;   // for people
};

Measured measure_baseline(const Scene& scene, double metres, const RunReport& report) {
  Measured measured{.length = 0, .failure = {}, .source = "baseline of " + metres_text(metres) + " between the cameras of views 1 and 2"};
  if (report.pose && report.pose->status == "failed") {
    measured.failure = "no second camera was found";
    return measured;
  }
  const auto& [first, second] = std::tie(scene.views[0], scene.views[1]);
  measured.length = distance_between(first.camera->world_from_cam.translation, second.camera->world_from_cam.translation);
  if (!(measured.length >= kMinBaselineShare * median_depth(first)))
    measured.failure = "as far as the network can tell, the cameras of views 1 and 2 stand in one place";
  return measured;
}

Measured measure_distance(const Scene& scene, const KnownDistance& distance) {
  const bool from_depth = resolved(PointSource::kAuto, scene) == PointSource::kDepth;
  const auto find = [&](const PhotoPoint& point) {
    const SceneView& view = scene.views[point.photo];
    return point_at(view, from_depth ? points_from_depth(view) : view.points, point.pixel);
  };
  Measured measured{.length = distance_between(find(distance.from), find(distance.to)),
                    .failure = {},
                    .source = "distance of " + metres_text(distance.metres) + " between two points"};
  if (!std::isfinite(measured.length)) measured.failure = "the network's points at the two pixels are not finite";
  return measured;
}

}  // namespace

void scale_scene(Scene& scene, double factor) {
  const auto scale = [factor](auto& value) { value = static_cast<std::remove_reference_t<decltype(value)>>(value * factor); };
  for (SceneView& view : scene.views) {
    std::ranges::for_each(view.points, scale);
    std::ranges::for_each(view.depth, scale);
    if (view.camera) std::ranges::for_each(view.camera->world_from_cam.translation, scale);
  }
}

double median_depth(const SceneView& view) {
  const std::vector<uint8_t> valid = valid_mask(view);
  std::vector<float> depths;
  for (size_t p = 0; p < view.depth.size(); ++p) {
    if (valid[p] != 0 && std::isfinite(view.depth[p]) && view.depth[p] > 0) depths.push_back(view.depth[p]);
  }
  return depths.empty() ? 0 : quantile(depths, 0.5);
}

std::array<double, 3> point_at(const SceneView& view, const std::vector<float>& points, Pixel in_photo) {
  const int width = view.image.width;
  const Pixel at = view.transform.network_from_oriented(in_photo);
  const auto index = [&](int u, int v) {
    const int column = std::clamp(u, 0, width - 1), row = std::clamp(v, 0, view.image.height - 1);
    return static_cast<size_t>(row) * static_cast<size_t>(width) + static_cast<size_t>(column);
  };
  const int left = static_cast<int>(std::floor(at.u)), top = static_cast<int>(std::floor(at.v));
  const size_t nearest = index(static_cast<int>(std::lround(at.u)), static_cast<int>(std::lround(at.v)));
  const Point3 middle = point_of(points, nearest);
  const Point3 eye = view.camera ? view.camera->world_from_cam.translation : Point3{};
  const double reach = kOneSurface * distance_between(middle, eye);
  const std::vector<uint8_t> valid = valid_mask(view);
  const double right_share = at.u - left, lower_share = at.v - top;
  Point3 between = {};
  for (const int down : {0, 1}) {
    for (const int right : {0, 1}) {
      const size_t pixel = index(left + right, top + down);
      const Point3 corner = point_of(points, pixel);
      if (valid[pixel] == 0 || !(distance_between(corner, middle) <= reach)) return middle;
      const double share = (right == 1 ? right_share : 1 - right_share) * (down == 1 ? lower_share : 1 - lower_share);
      for (size_t c = 0; c < 3; ++c) between[c] += share * corner[c];
    }
  }
  return between;
}

void apply_known_scale(Scene& scene, const KnownInputs& known, RunReport& report) {
  if (!known.baseline_metres && !known.distance) return;
  const double metres = known.baseline_metres ? *known.baseline_metres : known.distance->metres;
  Measured measured = known.baseline_metres ? measure_baseline(scene, metres, report) : measure_distance(scene, *known.distance);
  const double factor = metres / measured.length;
  if (measured.failure.empty() && !(std::isfinite(factor) && factor > 0)) measured.failure = "the network gives it no length";

  report.known.scale_from = known.baseline_metres ? "baseline" : "distance";
  report.known.scale_status = measured.failure.empty() ? "ok" : "failed";
  if (!measured.failure.empty()) {
    report.known.scale_reason = "the scale stays unknown, for all the " + measured.source + ": " + measured.failure;
    report.notes.push_back(report.known.scale_reason);
    return;
  }
  report.known.scale_factor = factor;
  scale_scene(scene, factor);
  scene.scale = {.is_metric = true, .source = measured.source};
  if (known.baseline_metres && report.pose && report.pose->status == "doubtful")
    report.notes.push_back("the scale rests on the second camera, which is in doubt");
}

}  // namespace pointmap
