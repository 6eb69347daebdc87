// Where a camera stands, from points in space and the pixels that show them, some of them wrong.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "pointmap/camera.h"

namespace pointmap {

struct PnpOptions {
  int max_iterations = 100;
  float max_error_px = 5;  // of an inlier
};

struct PnpPoints {
  std::vector<std::array<float, 3>> points;  // in any one frame
  std::vector<std::array<float, 2>> pixels;  // (u, v) of each

  // The point of a map [H, W, 3] at a flat index.
  void add(std::span<const float> map, size_t index, int width);
};

struct PnpSolution {
  RigidTransform cam_from_points;
  size_t num_inliers = 0;
  std::string failure;  // why there is no pose; empty when there is one

  bool found() const { return failure.empty(); }
};

// OpenCV's solvePnPRansac as upstream DUSt3R calls it (specification 6.3): EPnP on five points inside RANSAC, SQPnP on all inliers at
// the end, no distortion. Its random numbers start anew in every call, so the same input gives the same pose. Points that are not finite
// must have been left out. Throws Error{kInvalidArgument} when there are not as many points as pixels.
PnpSolution solve_pnp(const PnpPoints& points, const Intrinsics& intrinsics, const PnpOptions& options = {});

}  // namespace pointmap
