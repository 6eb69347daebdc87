// The one file that knows OpenCV. Nothing of its process-wide state is used: no threads, no shared generator, and its exceptions end here.
#include "geometry/pnp.h"

#include <algorithm>
#include <cmath>
#include <opencv2/calib3d.hpp>
#include <utility>

#include "base/check.h"

namespace pointmap {
namespace {

constexpr size_t kMinPoints = 4;  // OpenCV takes no fewer
constexpr double kConfidence = 0.99;

PnpSolution failed(std::string why) {
  PnpSolution solution;
  solution.failure = std::move(why);
  return solution;
}

// A header over elements that somebody else owns; OpenCV's own kind of view has no const.
cv::Mat rows_of(const float* values, size_t count, int channels) {
  return cv::Mat(static_cast<int>(count), 1, CV_MAKETYPE(CV_32F, channels), const_cast<float*>(values));
}

RigidTransform rigid(const cv::Mat& rotation_vector, const cv::Mat& translation) {
  cv::Matx33d rotation;
  cv::Rodrigues(rotation_vector, rotation);
  RigidTransform transform;
  std::copy_n(rotation.val, 9, transform.rotation.begin());
  for (int i = 0; i < 3; ++i) transform.translation[static_cast<size_t>(i)] = translation.at<double>(i);
  return transform;
}

bool is_finite(const RigidTransform& t) {
  const auto finite = [](double x) { return std::isfinite(x); };
  return std::ranges::all_of(t.rotation, finite) && std::ranges::all_of(t.translation, finite);
}

}  // namespace

void PnpPoints::add(std::span<const float> map, size_t index, int width) {
  const size_t row = index / static_cast<size_t>(width);
  const size_t column = index % static_cast<size_t>(width);
  points.push_back({map[3 * index], map[3 * index + 1], map[3 * index + 2]});
  pixels.push_back({static_cast<float>(column), static_cast<float>(row)});
}

PnpSolution solve_pnp(const PnpPoints& points, const Intrinsics& k, const PnpOptions& options) {
  const size_t count = points.points.size();
  POINTMAP_CHECK(count == points.pixels.size(),
                 "PnP with " + std::to_string(count) + " points and " + std::to_string(points.pixels.size()) + " pixels");
  if (count < kMinPoints)
    return failed("only " + std::to_string(count) + " points, at least " + std::to_string(kMinPoints) + " are needed");
  // float32, as upstream hands them over
  const cv::Matx33f camera_matrix(static_cast<float>(k.fx), 0, static_cast<float>(k.cx), 0, static_cast<float>(k.fy),
                                  static_cast<float>(k.cy), 0, 0, 1);
  try {
    cv::Mat rotation_vector;
    cv::Mat translation;
    std::vector<int> inliers;
    const bool found = cv::solvePnPRansac(rows_of(points.points[0].data(), count, 3), rows_of(points.pixels[0].data(), count, 2),
                                          camera_matrix, cv::noArray(), rotation_vector, translation, false, options.max_iterations,
                                          options.max_error_px, kConfidence, inliers, cv::SOLVEPNP_SQPNP);
    if (!found) return failed("no camera fits more than a handful of the " + std::to_string(count) + " points");
    const PnpSolution solution{.cam_from_points = rigid(rotation_vector, translation), .num_inliers = inliers.size(), .failure = {}};
    if (!is_finite(solution.cam_from_points)) return failed("the points lead to a camera that is not finite");
    return solution;
  } catch (const cv::Exception& error) {
    return failed("OpenCV: " + error.err);
  }
}

}  // namespace pointmap
