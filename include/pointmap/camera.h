// Where a view was taken from, and how its pixels map to rays.
#pragma once

#include <array>

namespace pointmap {

// Pinhole, in pixels with centres at integers: u = fx x/z + cx, v = fy y/z + cy for a point (x, y, z) in the camera's frame.
struct Intrinsics {
  double fx = 0;
  double fy = 0;
  double cx = 0;
  double cy = 0;
};

// b_from_a: point_in_b = rotation point_in_a + translation.
struct RigidTransform {
  std::array<double, 9> rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};  // 3x3, row-major, orthonormal, right-handed
  std::array<double, 3> translation = {0, 0, 0};
};

// Frames in the names cancel: c_from_a = compose(c_from_b, b_from_a), a_from_b = inverse(b_from_a).
RigidTransform compose(const RigidTransform& c_from_b, const RigidTransform& b_from_a);
RigidTransform inverse(const RigidTransform& b_from_a);
// Of the rotation alone, 0 to 180.
double rotation_angle_deg(const RigidTransform& b_from_a);

// Camera axes as in OpenCV: x right, y down, z forward. The world is that of the scene: see Scene::world.
struct Camera {
  RigidTransform world_from_cam;  // in the units of the scene's points
  Intrinsics network;             // in pixels of the network's input
  Intrinsics original;            // in pixels of the photo as a person sees it, EXIF orientation applied
  bool intrinsics_known = false;  // given by the caller, not estimated
  bool pose_known = false;
};

}  // namespace pointmap
