// Two passes, as in surface splatting: the first finds how far each sample sees, the second mixes the colours of all that lies there. A
// single pass that keeps the nearest colour flickers where two views of a surface interleave.
#include "scene/render_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "base/check.h"

namespace pointmap {
namespace {

constexpr int kSamplesPerSide = 2;  // of a pixel
constexpr int kMaxSide = 1 << 14;
// In units of the distance to the neighbours: the corner between four points is 0.71 away from each.
constexpr double kCoverRadius = 0.8;
constexpr double kBlendRadius = 1.25;
constexpr double kBlendSharpness = 2.5;     // of exp(-k r^2): about what bilinear interpolation does
constexpr double kMinSize = 1;              // in samples: smaller would slip between them
constexpr double kMaxSizeShare = 0.1;       // of the picture's width: a point at the tip of the nose does not hide everything
constexpr double kSameSurfaceDepth = 0.02;  // of the depth: two views agree no better than that
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A point as the picture sees it: d^T inverse d is 1 on an ellipse whose axes reach to the neighbours.
struct Ellipse {
  Pixel centre;
  double half_width = 0;  // of its bounding box, for radius 1
  double half_height = 0;
  std::array<double, 3> inverse = {};  // xx, xy, yy
  double depth = 0;
  double depth_extent = 0;  // within which another point may be the same surface
  const uint8_t* color = nullptr;
};

struct Screen {
  Intrinsics lens;  // in samples
  int width = 0;
  int height = 0;
};

Point3 rotated(const RigidTransform& pose, const float* direction) {
  const Point3 d = {direction[0], direction[1], direction[2]};
  const Point3 tip = transform_point(pose, d);
  return {tip[0] - pose.translation[0], tip[1] - pose.translation[1], tip[2] - pose.translation[2]};
}

// How far the projection of `point` moves when the point moves by `step`, to first order.
Pixel projected_step(const Intrinsics& lens, const Point3& point, const Point3& step) {
  const double z = point[2];
  return {lens.fx * (step[0] - point[0] * step[2] / z) / z, lens.fy * (step[1] - point[1] * step[2] / z) / z};
}

// Nothing when the point cannot be seen.
std::optional<Ellipse> ellipse_of(const PointSplats& splats, size_t i, const RigidTransform& cam_from_world, const Screen& screen) {
  const float* p = &splats.positions[3 * i];
  const Point3 point = transform_point(cam_from_world, {p[0], p[1], p[2]});
  if (!(std::isfinite(point[0]) && std::isfinite(point[1]) && std::isfinite(point[2]) && point[2] > 0)) return std::nullopt;
  const Point3 tangent_u = rotated(cam_from_world, &splats.tangents_u[3 * i]);
  const Point3 tangent_v = rotated(cam_from_world, &splats.tangents_v[3 * i]);
  const Pixel u = projected_step(screen.lens, point, tangent_u);
  const Pixel v = projected_step(screen.lens, point, tangent_v);
  if (!(u.u * v.v - u.v * v.u >= 0)) return std::nullopt;  // from behind, or not a number

  double xx = u.u * u.u + v.u * v.u;
  double xy = u.u * u.v + v.u * v.v;
  double yy = u.v * u.v + v.v * v.v;
  const double too_large = std::sqrt(std::max(xx, yy)) / (kMaxSizeShare * screen.width);
  if (!std::isfinite(too_large)) return std::nullopt;
  const double shrink = too_large > 1 ? 1 / (too_large * too_large) : 1;
  xx = xx * shrink + kMinSize * kMinSize;
  xy = xy * shrink;
  yy = yy * shrink + kMinSize * kMinSize;
  const double determinant = xx * yy - xy * xy;
  return Ellipse{.centre = project(screen.lens, point),
                 .half_width = std::sqrt(xx),
                 .half_height = std::sqrt(yy),
                 .inverse = {yy / determinant, -xy / determinant, xx / determinant},
                 .depth = point[2],
                 .depth_extent = kSameSurfaceDepth * point[2] + std::abs(tangent_u[2]) + std::abs(tangent_v[2]),
                 .color = &splats.colors[3 * i]};
}

// Calls visit(sample, squared radius) for every sample within `radius`.
template <typename Visit>
void for_samples_of(const Ellipse& ellipse, double radius, const Screen& screen, const Visit& visit) {
  // Clamped before the conversion: a point far beside the picture has coordinates that no int holds.
  const auto first = [](double at, int size) { return static_cast<int>(std::ceil(std::clamp(at, 0.0, static_cast<double>(size)))); };
  const auto last = [](double at, int size) { return static_cast<int>(std::floor(std::clamp(at, -1.0, size - 1.0))); };
  const int left = first(ellipse.centre.u - radius * ellipse.half_width, screen.width);
  const int right = last(ellipse.centre.u + radius * ellipse.half_width, screen.width);
  const int top = first(ellipse.centre.v - radius * ellipse.half_height, screen.height);
  const int bottom = last(ellipse.centre.v + radius * ellipse.half_height, screen.height);
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      const double dx = x - ellipse.centre.u;
      const double dy = y - ellipse.centre.v;
      const double squared = ellipse.inverse[0] * dx * dx + 2 * ellipse.inverse[1] * dx * dy + ellipse.inverse[2] * dy * dy;
      if (squared > radius * radius) continue;
      visit(static_cast<size_t>(y) * static_cast<size_t>(screen.width) + static_cast<size_t>(x), squared);
    }
  }
}

// The same lens for samples: pixel centres at integers in both, so edges, not centres, are multiplied.
Intrinsics for_samples(const Intrinsics& k) {
  const double n = kSamplesPerSide;
  return {.fx = n * k.fx, .fy = n * k.fy, .cx = n * (k.cx + 0.5) - 0.5, .cy = n * (k.cy + 0.5) - 0.5};
}

struct Samples {
  std::vector<float> colors;   // [H, W, 3], weighted sums
  std::vector<float> weights;  // [H, W], 0: nothing there
};

// The mean of a pixel's samples, rounded.
Image pixels_of(const Samples& samples, const Screen& screen, const std::array<uint8_t, 3>& background) {
  Image image{screen.width / kSamplesPerSide, screen.height / kSamplesPerSide, {}};
  image.rgb.reserve(samples.colors.size() / (kSamplesPerSide * kSamplesPerSide));
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      std::array<double, 3> sum = {};
      for (int s = 0; s < kSamplesPerSide * kSamplesPerSide; ++s) {
        const int row = kSamplesPerSide * y + s / kSamplesPerSide;
        const size_t sample =
            static_cast<size_t>(row) * static_cast<size_t>(screen.width) + static_cast<size_t>(kSamplesPerSide * x + s % kSamplesPerSide);
        const double weight = samples.weights[sample];
        for (size_t c = 0; c < 3; ++c) sum[c] += weight > 0 ? samples.colors[3 * sample + c] / weight : background[c];
      }
      for (const double value : sum) {
        image.rgb.push_back(static_cast<uint8_t>(std::clamp(std::lround(value / (kSamplesPerSide * kSamplesPerSide)), 0L, 255L)));
      }
    }
  }
  return image;
}

void check(const PointSplats& splats, const RenderCamera& camera) {
  POINTMAP_CHECK(splats.positions.size() == 3 * splats.size() && splats.tangents_u.size() == 3 * splats.size() &&
                     splats.tangents_v.size() == 3 * splats.size() && splats.colors.size() % 3 == 0,
                 std::to_string(splats.colors.size()) + " colour values, " + std::to_string(splats.positions.size()) + " coordinates, " +
                     std::to_string(splats.tangents_u.size()) + " and " + std::to_string(splats.tangents_v.size()) + " of tangents");
  POINTMAP_CHECK(camera.width > 0 && camera.width <= kMaxSide && camera.height > 0 && camera.height <= kMaxSide,
                 "a picture of " + std::to_string(camera.width) + "x" + std::to_string(camera.height));
}

}  // namespace

Image render_points(const PointSplats& splats, const RenderCamera& camera, const std::array<uint8_t, 3>& background) {
  check(splats, camera);
  const Screen screen{
      .lens = for_samples(camera.intrinsics), .width = kSamplesPerSide * camera.width, .height = kSamplesPerSide * camera.height};
  std::vector<Ellipse> ellipses;
  for (size_t i = 0; i < splats.size(); ++i) {
    if (std::optional<Ellipse> seen = ellipse_of(splats, i, camera.cam_from_world, screen)) ellipses.push_back(*seen);
  }
  const size_t num_samples = static_cast<size_t>(screen.width) * static_cast<size_t>(screen.height);
  std::vector<float> depths(num_samples, kInfinity);
  for (const Ellipse& ellipse : ellipses) {
    for_samples_of(ellipse, kCoverRadius, screen,
                   [&](size_t sample, double) { depths[sample] = std::min(depths[sample], static_cast<float>(ellipse.depth)); });
  }
  Samples samples{.colors = std::vector<float>(3 * num_samples), .weights = std::vector<float>(num_samples)};
  for (const Ellipse& ellipse : ellipses) {
    for_samples_of(ellipse, kBlendRadius, screen, [&](size_t sample, double squared) {
      const float depth = depths[sample];
      if (depth == kInfinity || ellipse.depth > static_cast<double>(depth) + ellipse.depth_extent) return;
      const auto weight = static_cast<float>(std::exp(-kBlendSharpness * squared));
      for (size_t c = 0; c < 3; ++c) samples.colors[3 * sample + c] += weight * static_cast<float>(ellipse.color[c]);
      samples.weights[sample] += weight;
    });
  }
  return pixels_of(samples, screen, background);
}

}  // namespace pointmap
