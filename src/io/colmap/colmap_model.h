// A sparse model as COLMAP means it, in plain arrays: what both writers are given.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pointmap {

// PINHOLE, in COLMAP's pixels: (0.5, 0.5) is the centre of the top-left one.
struct ColmapCamera {
  uint64_t width = 0;
  uint64_t height = 0;
  double fx = 0;
  double fy = 0;
  double cx = 0;
  double cy = 0;

  bool operator==(const ColmapCamera&) const = default;
};

// point_in_cam = rotation * point + translation; x right, y down, z forward.
struct ColmapImage {
  uint32_t id = 0;
  size_t camera = 0;                              // place in ColmapModel::cameras
  std::array<double, 4> rotation = {1, 0, 0, 0};  // unit quaternion w, x, y, z
  std::array<double, 3> translation = {};
  std::string name;       // relative to the folder of the photos
  size_t num_points = 0;  // that it sees
};

// Every point is seen by one image: the first image sees the first num_points of them, the next image the next ones. Cameras and points
// have ids from 1, in order.
struct ColmapModel {
  std::span<const ColmapCamera> cameras;
  std::span<const ColmapImage> images;
  std::span<const float> positions;  // [N, 3]
  std::span<const uint8_t> colors;   // [N, 3] red, green, blue
  std::span<const double> pixels;    // [N, 2] where its image sees it, in COLMAP's pixels
  std::span<const double> errors;    // [N] pixels between there and its projection; -1 where there is none

  size_t num_points() const { return errors.size(); }
};

// Throws Error{kInvalidArgument} when the arrays disagree about N, an image has no such camera, or its name is empty or has a NUL byte.
void check_colmap_model(const ColmapModel& model);

}  // namespace pointmap
