// A pair of photos of the room with boxes, and what a perfect network says about them, put behind the network.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "recon/boxes_testing.h"
#include "recon/preprocess.h"
#include "scene/scene.h"

namespace pointmap {

// An upright photo of this size, as its file might store it.
inline DecodedImage photo_of(int width, int height, int exif_orientation) {
  DecodedImage photo;
  photo.image = {width, height, std::vector<uint8_t>(static_cast<size_t>(width) * static_cast<size_t>(height) * 3, 90)};
  photo.exif_orientation = exif_orientation;
  photo.stored_width = exif_orientation < 5 ? width : height;
  photo.stored_height = exif_orientation < 5 ? height : width;
  return photo;
}

// Two photos of the room and what a perfect network says about them.
struct Pair {
  std::array<Intrinsics, 2> original;  // the truth
  std::array<Eye, 2> eyes;
  Scene scene;
  SwappedPass swapped;

  RigidTransform cam1_from_cam2() const { return compose(inverse(eyes[0].room_from_cam), eyes[1].room_from_cam); }
};

struct PairOptions {
  int width = 448;  // of the photos
  int height = 448;
  double focal_px = 364;  // in them
  double outliers = 0;
  int exif_orientation = 1;
  Preset preset = Preset::kDust3r224;
  bool upstream_centre = false;         // the lens points where upstream thinks it does
  std::optional<Intrinsics> lens = {};  // of both photos, instead of a focal length that differs from one to the other
};

inline Pair pair_of(const PairOptions& options) {
  Pair pair;
  const std::array<RigidTransform, 2> poses = {standing_at({0.2, 0, -0.5}, -4), standing_at({0.9, -0.3, -0.2}, -17)};
  const PreparedView prepared = prepare_view(photo_of(options.width, options.height, options.exif_orientation), options.preset, "photo");
  const ViewTransform& view = prepared.transform;
  for (size_t v = 0; v < 2; ++v) {
    const double focal = options.focal_px * (v == 0 ? 1 : 1.1);
    const Pixel middle = image_centre(options.width, options.height);
    const Pixel centre =
        options.upstream_centre ? upstream_principal_point(view.network_width, view.network_height) : view.network_from_oriented(middle);
    pair.eyes[v] = {.network = {.fx = focal / view.scale_x, .fy = focal / view.scale_y, .cx = centre.u, .cy = centre.v},
                    .width = view.network_width,
                    .height = view.network_height,
                    .room_from_cam = poses[v]};
    if (options.lens) pair.eyes[v].network = network_intrinsics(*options.lens, view);
    pair.original[v] = original_intrinsics(pair.eyes[v].network, view);
    HostPointmap map = seen(pair.eyes[v], pair.eyes[0], options.outliers);
    SceneView scene_view;
    scene_view.source = "photo";
    scene_view.transform = view;
    scene_view.image = prepared.image;
    scene_view.points = std::move(map.points);
    scene_view.confidence = std::move(map.confidence);
    pair.scene.views.push_back(std::move(scene_view));
  }
  pair.swapped = {.second = seen(pair.eyes[1], pair.eyes[1], options.outliers),
                  .first = seen(pair.eyes[0], pair.eyes[1], options.outliers)};
  return pair;
}

inline double angle_between_deg(const Point3& a, const Point3& b) {
  const double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  return std::acos(std::min(1.0, dot / (std::hypot(a[0], a[1], a[2]) * std::hypot(b[0], b[1], b[2])))) * 180 / std::numbers::pi;
}

}  // namespace pointmap
