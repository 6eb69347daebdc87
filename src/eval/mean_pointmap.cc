#include "eval/mean_pointmap.h"

#include <limits>

#include "geometry/focal.h"
#include "geometry/pinhole.h"
#include "geometry/pnp.h"

namespace pointmap {
namespace {

std::array<const PointGrid*, 3> maps_of(const TruthMaps& truth) {
  return {&truth.in_cam1[0], &truth.in_cam1[1], &truth.second_in_cam2};
}

// One over the mean distance of all points from camera 1; 0 when there is none.
double normalization_of(const TruthMaps& truth) {
  double sum = 0;
  size_t count = 0;
  for (const PointGrid& grid : truth.in_cam1) {
    for (size_t i = 0; i < grid.num_pixels(); ++i) {
      if (!grid.has(i)) continue;
      const float* p = &grid.points[3 * i];
      sum += std::hypot(static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2]));
      ++count;
    }
  }
  return sum > 0 ? static_cast<double>(count) / sum : 0;
}

double focal_of(const PointGrid& own_frame) {
  std::vector<uint8_t> valid(own_frame.num_pixels());
  for (size_t i = 0; i < valid.size(); ++i) valid[i] = own_frame.has(i) ? 1 : 0;
  const double focal =
      focal_from_pointmap({.points = own_frame.points, .valid = valid, .width = own_frame.width, .height = own_frame.height},
                          image_centre(own_frame.width, own_frame.height), FocalMethod::kWeiszfeld);
  return is_usable_focal(focal) ? focal : default_focal(own_frame.width, own_frame.height);
}

}  // namespace

MeanPointmap::Size MeanPointmap::size_of(const TruthMaps& truth) {
  return {truth.in_cam1[0].width, truth.in_cam1[0].height, truth.in_cam1[1].width, truth.in_cam1[1].height};
}

void MeanPointmap::add(const TruthMaps& truth) {
  Sums& sums = sums_[size_of(truth)];
  ++sums.num_pairs;
  const double normalization = normalization_of(truth);
  for (size_t m = 0; m < 3; ++m) {
    const PointGrid& grid = *maps_of(truth)[m];
    Sum& sum = sums.maps[m];
    sum.points.resize(grid.points.size());
    sum.count.resize(grid.num_pixels());
    for (size_t i = 0; i < grid.num_pixels(); ++i) {
      if (!grid.has(i)) continue;
      ++sum.count[i];
      for (size_t c = 3 * i; c < 3 * i + 3; ++c) sum.points[c] += normalization * static_cast<double>(grid.points[c]);
    }
  }
}

std::optional<TruthMaps> MeanPointmap::without(const TruthMaps& own) const {
  const auto found = sums_.find(size_of(own));
  if (found == sums_.end() || found->second.num_pairs < 2) return std::nullopt;
  const double normalization = normalization_of(own);
  TruthMaps mean = own;
  const std::array<PointGrid*, 3> targets = {&mean.in_cam1[0], &mean.in_cam1[1], &mean.second_in_cam2};
  for (size_t m = 0; m < 3; ++m) {
    const PointGrid& grid = *maps_of(own)[m];
    const Sum& sum = found->second.maps[m];
    for (size_t i = 0; i < grid.num_pixels(); ++i) {
      const bool has_own = grid.has(i);
      const int others = sum.count[i] - (has_own ? 1 : 0);
      for (size_t c = 3 * i; c < 3 * i + 3; ++c) {
        const double total = sum.points[c] - (has_own ? normalization * static_cast<double>(grid.points[c]) : 0);
        targets[m]->points[c] = others > 0 ? static_cast<float>(total / others) : std::numeric_limits<float>::quiet_NaN();
      }
    }
  }
  return mean;
}

PairCameras cameras_of(const TruthMaps& maps) {
  PairCameras cameras{.cam1_from_cam2 = {}, .focal_px = {focal_of(maps.in_cam1[0]), focal_of(maps.second_in_cam2)}};
  const PointGrid& second = maps.in_cam1[1];
  const Pixel centre = image_centre(second.width, second.height);
  PnpPoints points;
  for (size_t i = 0; i < second.num_pixels(); ++i) {
    if (second.has(i)) points.add(second.points, i, second.width);
  }
  const double focal = cameras.focal_px[1];
  const PnpSolution solution = solve_pnp(points, {.fx = focal, .fy = focal, .cx = centre.u, .cy = centre.v});
  if (solution.found()) cameras.cam1_from_cam2 = inverse(solution.cam_from_points);
  return cameras;
}

}  // namespace pointmap
