#include "geometry/focal.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "base/check.h"

namespace pointmap {
namespace {

constexpr int kWeiszfeldSteps = 10;
constexpr double kMinDistancePx = 1e-8;  // so that a point that fits exactly has a finite weight

using Views = std::span<const FocalView>;

// Calls fn(qx, qy, point) for every valid pixel: its place relative to the principal point, and its point.
template <typename Fn>
void for_each_pixel(Views views, const Fn& fn) {
  for (const FocalView& view : views) {
    const PointmapGrid& grid = view.grid;
    size_t pixel = 0;
    for (int v = 0; v < grid.height; ++v) {
      for (int u = 0; u < grid.width; ++u, ++pixel) {
        if (!grid.valid.empty() && grid.valid[pixel] == 0) continue;
        fn(view.scale_x * (u - view.principal_point.u), view.scale_y * (v - view.principal_point.v), &grid.points[3 * pixel]);
      }
    }
  }
}

double median_focal(Views views) {
  std::vector<double> votes;
  size_t num_coordinates = 0;
  for (const FocalView& view : views) num_coordinates += view.grid.points.size();
  votes.reserve(num_coordinates);
  const auto vote = [&](double focal) {
    if (!std::isnan(focal)) votes.push_back(focal);  // infinite votes count
  };
  for_each_pixel(views, [&](double qx, double qy, const float* p) {
    vote(qx * p[2] / p[0]);
    vote(qy * p[2] / p[1]);
  });
  if (votes.empty()) return std::nan("");
  const auto lower_middle = votes.begin() + static_cast<std::ptrdiff_t>((votes.size() - 1) / 2);
  std::nth_element(votes.begin(), lower_middle, votes.end());
  return *lower_middle;
}

// Slope of a ray; a point beside or behind the lens says nothing.
double slope(double across, double depth) {
  const double ratio = across / depth;
  return std::isfinite(ratio) ? ratio : 0;
}

double weiszfeld_focal(Views views) {
  const auto least_squares = [&](const auto& weight) {
    double sum_rq = 0;
    double sum_rr = 0;
    for_each_pixel(views, [&](double qx, double qy, const float* p) {
      const double rx = slope(p[0], p[2]);
      const double ry = slope(p[1], p[2]);
      const double w = weight(qx, qy, rx, ry);
      sum_rq += w * (rx * qx + ry * qy);
      sum_rr += w * (rx * rx + ry * ry);
    });
    return sum_rq / sum_rr;
  };
  double focal = least_squares([](double, double, double, double) { return 1.0; });
  for (int step = 0; step < kWeiszfeldSteps; ++step) {
    focal = least_squares([f = focal](double qx, double qy, double rx, double ry) {
      const double dx = qx - f * rx;
      const double dy = qy - f * ry;
      return 1 / std::max(std::sqrt(dx * dx + dy * dy), kMinDistancePx);
    });
  }
  return focal;
}

void check_grid(const PointmapGrid& grid) {
  const size_t pixels = checked_mul(static_cast<size_t>(grid.width), static_cast<size_t>(grid.height));
  POINTMAP_CHECK(
      grid.width > 0 && grid.height > 0 && grid.points.size() == 3 * pixels && (grid.valid.empty() || grid.valid.size() == pixels),
      "focal of a pointmap of " + std::to_string(grid.width) + "x" + std::to_string(grid.height) + " with " +
          std::to_string(grid.points.size()) + " coordinates and a mask of " + std::to_string(grid.valid.size()));
}

}  // namespace

double focal_from_pointmap(const PointmapGrid& grid, Pixel principal_point, FocalMethod method) {
  const FocalView view{.grid = grid, .principal_point = principal_point};
  return shared_focal({&view, 1}, method);
}

double shared_focal(std::span<const FocalView> views, FocalMethod method) {
  for (const FocalView& view : views) check_grid(view.grid);
  const double focal = method == FocalMethod::kMedian ? median_focal(views) : weiszfeld_focal(views);
  return focal < 0 ? 0 : focal;  // NaN stays
}

bool is_usable_focal(double focal_px) {
  return std::isfinite(focal_px) && focal_px > 0;
}

bool is_usable_lens(const Intrinsics& k) {
  return is_usable_focal(k.fx) && is_usable_focal(k.fy) && std::isfinite(k.cx) && std::isfinite(k.cy);
}

double default_focal(int width, int height) {
  return std::max(width, height) / (2 * std::tan(std::numbers::pi / 6));
}

}  // namespace pointmap
