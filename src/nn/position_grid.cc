#include "nn/position_grid.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace pointmap {
namespace {

// Keys' cubic convolution kernel with a = -0.5.
double cubic_kernel(double t) {
  constexpr double a = -0.5;
  t = std::abs(t);
  if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  if (t < 2) return a * (((t - 5) * t + 8) * t - 4);
  return 0;
}

// A grid of vectors of `channels` numbers.
struct Grid {
  int64_t height, width, channels;
  std::vector<double> values;
};

Grid resize_rows(const Grid& from, int64_t height) {
  const std::vector<ResampleTaps> taps = bicubic_antialias_taps(from.height, height);
  const int64_t row = from.width * from.channels;
  Grid to{height, from.width, from.channels, std::vector<double>(static_cast<size_t>(height * row), 0.0)};
  for (int64_t y = 0; y < height; ++y) {
    const auto& [first, weights] = taps[static_cast<size_t>(y)];
    double* out = to.values.data() + y * row;
    for (size_t k = 0; k < weights.size(); ++k) {
      const double* in = from.values.data() + (first + static_cast<int64_t>(k)) * row;
      for (int64_t i = 0; i < row; ++i) out[i] += weights[k] * in[i];
    }
  }
  return to;
}

Grid resize_columns(const Grid& from, int64_t width) {
  const std::vector<ResampleTaps> taps = bicubic_antialias_taps(from.width, width);
  const int64_t channels = from.channels;
  Grid to{from.height, width, channels, std::vector<double>(static_cast<size_t>(from.height * width * channels), 0.0)};
  for (int64_t y = 0; y < from.height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const auto& [first, weights] = taps[static_cast<size_t>(x)];
      double* out = to.values.data() + (y * width + x) * channels;
      for (size_t k = 0; k < weights.size(); ++k) {
        const double* in = from.values.data() + (y * from.width + first + static_cast<int64_t>(k)) * channels;
        for (int64_t c = 0; c < channels; ++c) out[c] += weights[k] * in[c];
      }
    }
  }
  return to;
}

}  // namespace

std::vector<ResampleTaps> bicubic_antialias_taps(int64_t in_size, int64_t out_size) {
  POINTMAP_CHECK(in_size >= 1 && out_size >= 1,
                 "bicubic_antialias_taps: " + std::to_string(in_size) + " elements to " + std::to_string(out_size));
  const double scale = static_cast<double>(in_size) / static_cast<double>(out_size);
  const double stretch = std::max(scale, 1.0);
  const double support = 2 * stretch;
  std::vector<ResampleTaps> taps(static_cast<size_t>(out_size));
  for (int64_t i = 0; i < out_size; ++i) {
    const double centre = scale * (static_cast<double>(i) + 0.5);
    const auto begin = static_cast<int64_t>(std::max(std::floor(centre - support + 0.5), 0.0));
    const auto end = static_cast<int64_t>(std::min(std::floor(centre + support + 0.5), static_cast<double>(in_size)));
    ResampleTaps& tap = taps[static_cast<size_t>(i)];
    tap.first = begin;
    double total = 0;
    for (int64_t j = begin; j < end; ++j) {
      tap.weights.push_back(cubic_kernel((static_cast<double>(j) - centre + 0.5) / stretch));
      total += tap.weights.back();
    }
    for (double& weight : tap.weights) weight /= total;
  }
  return taps;
}

Tensor resize_position_grid(Ops& ops, TensorView positions, PatchGrid grid) {
  POINTMAP_CHECK(positions.shape().rank() == 3, "resize_position_grid: got " + positions.shape().to_string() + ", want [h, w, C]");
  const Tensor host = ops.download(ops.upload(positions));
  Grid values{positions.shape()[0], positions.shape()[1], positions.shape()[2], {}};
  values.values.assign(host.data<float>(), host.data<float>() + host.shape().num_elements());
  values = resize_columns(resize_rows(values, grid.height), grid.width);
  const std::vector<float> rounded(values.values.begin(), values.values.end());
  return ops.upload(TensorView(rounded.data(), DType::kF32, {1, grid.height, grid.width, values.channels}));
}

}  // namespace pointmap
