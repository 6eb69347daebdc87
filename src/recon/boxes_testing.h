// A room with boxes in it, seen exactly: what a perfect network would say about a pair of photos.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "geometry/pinhole.h"
#include "recon/swapped_pass.h"

namespace pointmap {

struct Box {
  Point3 low;
  Point3 high;
};

// The room itself, seen from within, and three things in it. Metres; y points down.
inline constexpr std::array<Box, 4> kRoom = {Box{{-3, -1.5, -2}, {3, 1.5, 6}}, Box{{-1.5, 0.3, 2.5}, {-0.5, 1.5, 3.5}},
                                             Box{{0.4, -0.2, 3}, {1.2, 1.5, 4}}, Box{{-0.4, 0.9, 1.8}, {0.3, 1.5, 2.3}}};

// How far along `direction` the nearest face in front of `origin` is.
inline double distance_to_room(const Point3& origin, const Point3& direction) {
  double nearest = std::numeric_limits<double>::infinity();
  for (const Box& box : kRoom) {
    double enter = -std::numeric_limits<double>::infinity();
    double leave = std::numeric_limits<double>::infinity();
    for (size_t axis = 0; axis < 3; ++axis) {
      const double a = (box.low[axis] - origin[axis]) / direction[axis];
      const double b = (box.high[axis] - origin[axis]) / direction[axis];
      enter = std::max(enter, std::min(a, b));
      leave = std::min(leave, std::max(a, b));
    }
    if (enter > leave || leave <= 0) continue;
    nearest = std::min(nearest, enter > 0 ? enter : leave);
  }
  return nearest;
}

// Standing at `centre`, turned by `degrees` about the vertical axis (to the right) and a third of that about the camera's own x.
inline RigidTransform standing_at(const Point3& centre, double degrees) {
  const double yaw = degrees * std::numbers::pi / 180;
  const double pitch = yaw / 3;
  const RigidTransform turn = {.rotation = {std::cos(yaw), 0, std::sin(yaw), 0, 1, 0, -std::sin(yaw), 0, std::cos(yaw)},
                               .translation = centre};
  const RigidTransform nod = {.rotation = {1, 0, 0, 0, std::cos(pitch), -std::sin(pitch), 0, std::sin(pitch), std::cos(pitch)},
                              .translation = {}};
  return compose(turn, nod);
}

// A camera in the room.
struct Eye {
  Intrinsics network;
  int width = 0;
  int height = 0;
  RigidTransform room_from_cam;
};

// The points that the eye sees, in the frame of `other`, with confidence 10. A fraction of them is anywhere in the room instead.
inline HostPointmap seen(const Eye& eye, const Eye& other, double outliers = 0) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  const RigidTransform other_from_room = inverse(other.room_from_cam);
  HostPointmap map;
  for (int v = 0; v < eye.height; ++v) {
    for (int u = 0; u < eye.width; ++u) {
      const Point3 ahead = transform_point(eye.room_from_cam, unproject(eye.network, {static_cast<double>(u), static_cast<double>(v)}, 1));
      const Point3& centre = eye.room_from_cam.translation;
      const Point3 direction = {ahead[0] - centre[0], ahead[1] - centre[1], ahead[2] - centre[2]};
      const double depth = distance_to_room(centre, direction);
      Point3 in_room = transform_point(eye.room_from_cam, unproject(eye.network, {static_cast<double>(u), static_cast<double>(v)}, depth));
      if (unit(random) < outliers) in_room = {6 * unit(random) - 3, 3 * unit(random) - 1.5, 8 * unit(random) - 2};
      for (const double x : transform_point(other_from_room, in_room)) map.points.push_back(static_cast<float>(x));
    }
  }
  map.confidence.assign(map.points.size() / 3, 10.0f);
  return map;
}

}  // namespace pointmap
