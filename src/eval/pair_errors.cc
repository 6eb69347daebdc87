#include "eval/pair_errors.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "eval/metric_table.h"

namespace pointmap {
namespace {

struct Point {
  double x, y, z;
  double norm() const { return std::sqrt(x * x + y * y + z * z); }
};

Point point_at(const PointGrid& grid, size_t pixel) {
  return {grid.points[3 * pixel], grid.points[3 * pixel + 1], grid.points[3 * pixel + 2]};
}

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return EvalMetrics::kUndefined;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Mean |error| / |truth| of one view.
double point_error(const PointGrid& prediction, const PointGrid& truth, double scale) {
  std::vector<double> errors;
  if (!prediction.same_size(truth)) return EvalMetrics::kUndefined;
  for (size_t i = 0; i < truth.num_pixels(); ++i) {
    if (!truth.has(i)) continue;
    const Point t = point_at(truth, i);
    const Point p = point_at(prediction, i);
    const Point e = {scale * p.x - t.x, scale * p.y - t.y, scale * p.z - t.z};
    errors.push_back(prediction.has(i) ? e.norm() / t.norm() : 1);
  }
  return mean_of(errors);
}

// The three errors of z in view 1.
void add_depth_errors(EvalMetrics& errors, const PointGrid& prediction, const PointGrid& truth, double scale) {
  if (!prediction.same_size(truth)) return;
  std::vector<double> relative;
  size_t within_103 = 0;
  size_t within_125 = 0;
  for (size_t i = 0; i < truth.num_pixels(); ++i) {
    if (!truth.has(i)) continue;
    const double z = point_at(truth, i).z;
    const double predicted = prediction.has(i) ? std::max(0.0, scale * point_at(prediction, i).z) : 0.0;
    relative.push_back(std::abs(predicted - z) / z);
    const double ratio = std::max(predicted / z, z / predicted);  // infinite for 0
    within_103 += ratio < 1.03 ? 1 : 0;
    within_125 += ratio < 1.25 ? 1 : 0;
  }
  if (relative.empty()) return;
  errors.abs_rel = mean_of(relative);
  errors.within_103 = static_cast<double>(within_103) / static_cast<double>(relative.size());
  errors.within_125 = static_cast<double>(within_125) / static_cast<double>(relative.size());
  errors.median_dz = median_of(std::move(relative));
}

double angle_deg(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  const Point cross = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  const double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  return std::atan2(cross.norm(), dot) * 180 / std::numbers::pi;
}

template <typename Summary>
EvalRows summarized(const std::vector<EvalScene>& scenes, const Summary& summary) {
  EvalRows rows;
  for (const EvalRowName& row : kEvalRows) {
    for (const EvalMetricName& metric : kEvalMetrics) {
      std::vector<double> values;
      for (const EvalScene& scene : scenes) {
        const double value = scene.errors.*row.member.*metric.member;
        if (!std::isnan(value)) values.push_back(value);
      }
      rows.*row.member.*metric.member = summary(std::move(values));
    }
  }
  return rows;
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return EvalMetrics::kUndefined;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double scale_of(const PairGrids& prediction, const PairGrids& truth) {
  std::vector<double> ratios;
  for (size_t v = 0; v < 2; ++v) {
    if (!prediction[v].same_size(truth[v])) continue;
    for (size_t i = 0; i < truth[v].num_pixels(); ++i) {
      if (!truth[v].has(i) || !prediction[v].has(i)) continue;
      const double distance = point_at(prediction[v], i).norm();
      if (distance > 0) ratios.push_back(point_at(truth[v], i).norm() / distance);
    }
  }
  return median_of(std::move(ratios));
}

EvalMetrics point_errors(const PairGrids& prediction, const PairGrids& truth, double scale) {
  EvalMetrics errors;
  if (std::isnan(scale)) return errors;
  add_depth_errors(errors, prediction[0], truth[0], scale);
  errors.point_error_1 = point_error(prediction[0], truth[0], scale);
  errors.point_error_2 = point_error(prediction[1], truth[1], scale);
  return errors;
}

void add_camera_errors(EvalMetrics& errors, const PairCameras& prediction, const PairCameras& truth) {
  errors.rotation_deg = rotation_angle_deg(compose(inverse(truth.cam1_from_cam2), prediction.cam1_from_cam2));
  const std::array<double, 3>& found = prediction.cam1_from_cam2.translation;
  constexpr double kNoDirectionDeg = 90;  // as good as a guess: half of all directions are nearer, half farther
  const bool has_direction = found[0] != 0 || found[1] != 0 || found[2] != 0;
  errors.translation_deg = has_direction ? angle_deg(found, truth.cam1_from_cam2.translation) : kNoDirectionDeg;
  double sum = 0;
  for (size_t v = 0; v < 2; ++v) sum += std::abs(prediction.focal_px[v] / truth.focal_px[v] - 1);
  errors.focal_error = sum / 2;
}

EvalRows median_rows(const std::vector<EvalScene>& scenes) {
  return summarized(scenes, [](std::vector<double> values) { return median_of(std::move(values)); });
}

EvalRows mean_rows(const std::vector<EvalScene>& scenes) {
  return summarized(scenes, [](const std::vector<double>& values) { return mean_of(values); });
}

}  // namespace pointmap
