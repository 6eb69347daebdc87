#include "geometry/align_points.h"

#include <cmath>
#include <opencv2/core.hpp>
#include <string>

#include "base/check.h"

namespace pointmap {
namespace {

Point3 point_at(std::span<const float> points, size_t i) {
  return {points[3 * i], points[3 * i + 1], points[3 * i + 2]};
}

bool is_finite(const Point3& p) {
  return std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]);
}

template <typename Visit>
void for_pairs(std::span<const float> in_a, std::span<const float> in_b, std::span<const uint8_t> valid, const Visit& visit) {
  for (size_t i = 0; i < in_a.size() / 3; ++i) {
    if (!valid.empty() && valid[i] == 0) continue;
    const Point3 a = point_at(in_a, i);
    const Point3 b = point_at(in_b, i);
    if (is_finite(a) && is_finite(b)) visit(a, b);
  }
}

}  // namespace

PointMoments moments_of(std::span<const float> points_in_a, std::span<const float> points_in_b, std::span<const uint8_t> valid) {
  POINTMAP_CHECK(
      points_in_a.size() == points_in_b.size() && points_in_a.size() % 3 == 0 && (valid.empty() || valid.size() == points_in_a.size() / 3),
      "alignment of " + std::to_string(points_in_a.size()) + " and " + std::to_string(points_in_b.size()) + " coordinates, " +
          std::to_string(valid.size()) + " flags");
  PointMoments moments;
  for_pairs(points_in_a, points_in_b, valid, [&](const Point3& a, const Point3& b) {
    ++moments.count;
    for (size_t c = 0; c < 3; ++c) {
      moments.mean_in_a[c] += a[c];
      moments.mean_in_b[c] += b[c];
    }
  });
  if (moments.count == 0) return moments;
  const auto count = static_cast<double>(moments.count);
  for (size_t c = 0; c < 3; ++c) {
    moments.mean_in_a[c] /= count;
    moments.mean_in_b[c] /= count;
  }
  for_pairs(points_in_a, points_in_b, valid, [&](const Point3& a, const Point3& b) {
    for (size_t column = 0; column < 3; ++column) {
      const double from_mean = a[column] - moments.mean_in_a[column];
      moments.variance_in_a += from_mean * from_mean / count;
      for (size_t row = 0; row < 3; ++row) moments.covariance[3 * row + column] += (b[row] - moments.mean_in_b[row]) * from_mean / count;
    }
  });
  return moments;
}

std::array<double, 9> nearest_rotation(const std::array<double, 9>& m) {
  const cv::Matx33d matrix(m.data());
  cv::Matx31d w;
  cv::Matx33d u;
  cv::Matx33d vt;
  cv::SVD::compute(matrix, w, u, vt);
  // A mirror image would fit better where this is negative: the least certain axis is turned round.
  const double sign = cv::determinant(u) * cv::determinant(vt) < 0 ? -1 : 1;
  const cv::Matx33d rotation = u * cv::Matx33d(1, 0, 0, 0, 1, 0, 0, 0, sign) * vt;
  std::array<double, 9> result = {};
  for (size_t i = 0; i < 9; ++i) result[i] = rotation.val[i];
  return result;
}

Similarity similarity_with(const std::array<double, 9>& rotation, const PointMoments& moments) {
  double trace = 0;
  for (size_t i = 0; i < 9; ++i) trace += rotation[i] * moments.covariance[i];
  Similarity similarity;
  similarity.scale = moments.variance_in_a > 0 ? trace / moments.variance_in_a : 0;
  similarity.b_from_a.rotation = rotation;
  const Point3 turned = transform_point({.rotation = rotation, .translation = {}}, moments.mean_in_a);
  for (size_t c = 0; c < 3; ++c) similarity.b_from_a.translation[c] = moments.mean_in_b[c] - similarity.scale * turned[c];
  return similarity;
}

}  // namespace pointmap
