#include "geometry/pinhole.h"

namespace pointmap {

Pixel project(const Intrinsics& k, const Point3& point_in_cam) {
  const auto [x, y, z] = point_in_cam;
  return {k.fx * x / z + k.cx, k.fy * y / z + k.cy};
}

Point3 unproject(const Intrinsics& k, Pixel pixel, double depth) {
  return {(pixel.u - k.cx) * depth / k.fx, (pixel.v - k.cy) * depth / k.fy, depth};
}

Intrinsics original_intrinsics(const Intrinsics& network, const ViewTransform& view) {
  const Pixel centre = view.oriented_from_network({network.cx, network.cy});
  return {.fx = network.fx * view.scale_x, .fy = network.fy * view.scale_y, .cx = centre.u, .cy = centre.v};
}

Intrinsics network_intrinsics(const Intrinsics& original, const ViewTransform& view) {
  const Pixel centre = view.network_from_oriented({original.cx, original.cy});
  return {.fx = original.fx / view.scale_x, .fy = original.fy / view.scale_y, .cx = centre.u, .cy = centre.v};
}

Pixel image_centre(int width, int height) {
  return {(width - 1) / 2.0, (height - 1) / 2.0};
}

Pixel upstream_principal_point(int width, int height) {
  return {width / 2.0, height / 2.0};
}

}  // namespace pointmap
