#include "scene/export_picture.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/atomic_file.h"
#include "base/check.h"
#include "geometry/focal.h"
#include "geometry/view_transform.h"
#include "io/image/png_encode.h"
#include "io/image/resize.h"
#include "scene/quantile.h"
#include "scene/scene_splats.h"

namespace pointmap {
namespace {

constexpr int kPanelLongSide = 640;
constexpr int kGap = 12;
constexpr std::array<uint8_t, 3> kPaper = {255, 255, 255};
constexpr std::array<uint8_t, 3> kSky = {232, 236, 241};
constexpr std::array<uint8_t, 3> kNoDepth = {128, 128, 128};
constexpr double kMovedYawDeg = 24;
constexpr double kMovedPitchDeg = 10;
constexpr double kMovedBack = 1.2;  // of the distance to the pivot, so that edges stay in sight

// From far to near, evenly spaced.
constexpr std::array<std::array<double, 3>, 6> kDepthColors = {
    {{38, 30, 92}, {44, 96, 164}, {52, 164, 156}, {150, 204, 96}, {248, 214, 84}, {236, 104, 48}}};

std::array<uint8_t, 3> depth_color(double nearness) {
  const double at = std::clamp(nearness, 0.0, 1.0) * (kDepthColors.size() - 1);
  const auto low = std::min(static_cast<size_t>(at), kDepthColors.size() - 2);
  const double share = at - static_cast<double>(low);
  std::array<uint8_t, 3> color = {};
  for (size_t c = 0; c < 3; ++c) {
    color[c] = static_cast<uint8_t>(std::lround((1 - share) * kDepthColors[low][c] + share * kDepthColors[low + 1][c]));
  }
  return color;
}

// 1/z of each pixel, 0 where there is no depth.
std::vector<double> nearness_of(const SceneView& view) {
  std::vector<double> nearness(view.confidence.size());
  const std::vector<uint8_t> is_valid = valid_mask(view);
  for (size_t pixel = 0; pixel < nearness.size(); ++pixel) {
    const double z = view.points[3 * pixel + 2];
    if (is_valid[pixel] != 0 && is_finite_point(view, pixel) && z > 0) nearness[pixel] = 1 / z;
  }
  return nearness;
}

Image panel_of(const Image& image, int width, int height) {
  return resize_image(image, width, height, ResizeFilter::kBicubic);
}

// Turned about what the camera looks at: to the right and up, then back a little. World axes are those of the first camera: y down.
RigidTransform moved_camera(const Point3& pivot) {
  const double yaw = kMovedYawDeg * std::numbers::pi / 180;
  const double pitch = kMovedPitchDeg * std::numbers::pi / 180;
  const RigidTransform turn_right = {.rotation = {std::cos(yaw), 0, -std::sin(yaw), 0, 1, 0, std::sin(yaw), 0, std::cos(yaw)},
                                     .translation = {}};
  const RigidTransform turn_down = {.rotation = {1, 0, 0, 0, std::cos(pitch), std::sin(pitch), 0, -std::sin(pitch), std::cos(pitch)},
                                    .translation = {}};
  RigidTransform world_from_cam = compose(turn_right, turn_down);
  const Point3 back = transform_point(world_from_cam, {0, 0, -kMovedBack * pivot[2]});
  for (size_t c = 0; c < 3; ++c) world_from_cam.translation[c] = pivot[c] + back[c];
  return inverse(world_from_cam);
}

RenderCamera camera_beside(const SceneView& view, const PointSplats& splats, int width, int height) {
  std::vector<double> depths;
  for (size_t i = 2; i < splats.positions.size(); i += 3) {
    if (splats.positions[i] > 0) depths.push_back(splats.positions[i]);
  }
  const double distance = depths.empty() ? 1 : quantile(depths, 0.5);
  const double focal =
      view.camera && std::isfinite(view.camera->network.fx) ? view.camera->network.fx : default_focal(view.image.width, view.image.height);
  const double scale = static_cast<double>(width) / view.image.width;
  const Pixel centre = image_centre(width, height);
  return {.cam_from_world = moved_camera({0, 0, distance}),
          .intrinsics = {.fx = scale * focal, .fy = scale * focal, .cx = centre.u, .cy = centre.v},
          .width = width,
          .height = height};
}

Image side_by_side(const std::vector<Image>& panels) {
  Image sheet{kGap, panels[0].height + 2 * kGap, {}};
  for (const Image& panel : panels) sheet.width += panel.width + kGap;
  for (size_t i = 0; i < static_cast<size_t>(sheet.width) * static_cast<size_t>(sheet.height); ++i) {
    sheet.rgb.insert(sheet.rgb.end(), kPaper.begin(), kPaper.end());
  }
  int left = kGap;
  for (const Image& panel : panels) {
    for (int y = 0; y < panel.height; ++y) {
      const size_t to = static_cast<size_t>(y + kGap) * static_cast<size_t>(sheet.width) + static_cast<size_t>(left);
      std::copy_n(panel.pixel(0, y), 3 * static_cast<size_t>(panel.width), &sheet.rgb[3 * to]);
    }
    left += panel.width + kGap;
  }
  return sheet;
}

}  // namespace

Image depth_picture(const SceneView& view) {
  const std::vector<double> nearness = nearness_of(view);
  std::vector<double> known;
  for (const double n : nearness) {
    if (n > 0) known.push_back(n);
  }
  const double low = known.empty() ? 0 : quantile(known, 0.02);
  const double high = known.empty() ? 0 : quantile(known, 0.98);
  Image image{view.image.width, view.image.height, {}};
  image.rgb.reserve(3 * nearness.size());
  for (const double n : nearness) {
    const std::array<uint8_t, 3> color = n > 0 ? depth_color(high > low ? (n - low) / (high - low) : 0.5) : kNoDepth;
    image.rgb.insert(image.rgb.end(), color.begin(), color.end());
  }
  return image;
}

Image scene_picture(const Scene& scene, const PointSelection& selection) {
  check_scene(scene);
  const auto found = std::ranges::find(scene.views, "ok", &SceneView::status);
  POINTMAP_CHECK(found != scene.views.end(), "no view to make a picture of");
  const SceneView& first = *found;
  const double scale = static_cast<double>(kPanelLongSide) / std::max(first.image.width, first.image.height);
  const int width = std::max(1, static_cast<int>(std::lround(scale * first.image.width)));
  const int height = std::max(1, static_cast<int>(std::lround(scale * first.image.height)));
  const PointSplats splats = splats_of(scene, selection);
  return side_by_side({panel_of(first.image, width, height), panel_of(depth_picture(first), width, height),
                       render_points(splats, camera_beside(first, splats, width, height), kSky)});
}

void export_picture(const Scene& scene, const PointSelection& selection, const std::filesystem::path& path) {
  write_file(path, encode_png8(scene_picture(scene, selection)));
}

}  // namespace pointmap
