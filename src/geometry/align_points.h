// One set of points in two frames: the rotation, scale and shift between them, by least squares (Umeyama 1991).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "geometry/rigid_transform.h"

namespace pointmap {

// What alignment needs to know of pairs of points.
struct PointMoments {
  size_t count = 0;
  Point3 mean_in_a = {};
  Point3 mean_in_b = {};
  std::array<double, 9> covariance = {};  // mean of (b - mean) (a - mean)^T, 3x3, row-major
  double variance_in_a = 0;               // mean of |a - mean|^2
};

// points: [N, 3] each; valid [N], 0 leaves a pair out, empty takes all; pairs that are not finite are left out. Throws
// Error{kInvalidArgument} when the sizes do not fit.
PointMoments moments_of(std::span<const float> points_in_a, std::span<const float> points_in_b, std::span<const uint8_t> valid);

// The rotation R with the largest trace of R^T m: of a covariance the best b_from_a, of a sum of rotations their mean. 3x3, row-major.
std::array<double, 9> nearest_rotation(const std::array<double, 9>& m);

// b = scale * rotation * a + translation.
struct Similarity {
  double scale = 1;
  RigidTransform b_from_a;
};

// Scale and shift that go with a rotation; scale is 0 when all points are one.
Similarity similarity_with(const std::array<double, 9>& rotation, const PointMoments& moments);

}  // namespace pointmap
