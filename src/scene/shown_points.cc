#include "scene/shown_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/check.h"
#include "base/names.h"
#include "geometry/pinhole.h"

namespace pointmap {

namespace {

constexpr std::array<std::string_view, 3> kNames = {"auto", "head", "depth"};

bool is_finite(const Camera& camera) {
  return pointmap::is_finite(camera.world_from_cam) && std::isfinite(camera.network.fx) && std::isfinite(camera.network.fy);
}

}  // namespace

PointSource parse_point_source(std::string_view name) {
  return static_cast<PointSource>(index_of_name(kNames, name, "points from"));
}

std::vector<float> points_from_depth(const SceneView& view) {
  POINTMAP_CHECK(view.camera.has_value() && !view.depth.empty(),
                 "view '" + view.source + "' has no depth with a camera to make points from; use points from the head");
  std::vector<float> points;
  points.reserve(3 * view.depth.size());
  for (int v = 0; v < view.image.height; ++v) {
    for (int u = 0; u < view.image.width; ++u) {
      const double depth = view.depth[points.size() / 3];
      const Point3 in_cam = unproject(view.camera->network, {static_cast<double>(u), static_cast<double>(v)}, depth);
      for (const double x : transform_point(view.camera->world_from_cam, in_cam)) points.push_back(static_cast<float>(x));
    }
  }
  return points;
}

PointSource resolved(PointSource source, const Scene& scene) {
  if (source != PointSource::kAuto) return source;
  const bool has_depth = std::ranges::all_of(scene.views, [](const SceneView& view) {
    return view.status != "ok" || (!view.depth_confidence.empty() && view.camera && is_finite(*view.camera));
  });
  return has_depth ? PointSource::kDepth : PointSource::kHead;
}

Scene scene_from_depth(const Scene& scene) {
  Scene result;
  result.world = scene.world;
  for (const SceneView& view : scene.views) {
    SceneView& shown = result.views.emplace_back();
    shown.source = view.source;
    shown.status = view.status;
    if (view.status != "ok") continue;
    shown.transform = view.transform;
    shown.image = view.image;
    shown.mask = view.mask;
    shown.camera = view.camera;
    shown.points = points_from_depth(view);
    shown.confidence = view.depth_confidence.empty() ? view.confidence : view.depth_confidence;
  }
  return result;
}

}  // namespace pointmap
