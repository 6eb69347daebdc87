// Separable resampling in 8-bit fixed point: weights in double, quantised to 22 fractional bits, summed in 32-bit integers.
#include "io/image/resize.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/check.h"
#include "io/image/resize_rows.h"

namespace pointmap {
namespace {

using resize_rows::kChannels;
using resize_rows::kSlackBytes;
using resize_rows::Taps;

double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

double sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double lanczos(double x) {
  return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
}

int32_t quantised(double weight) {
  const double scaled = weight * (1 << resize_rows::kWeightBits);
  return static_cast<int32_t>(weight < 0 ? scaled - 0.5 : scaled + 0.5);  // the cast truncates towards zero
}

// Of an axis that goes from n to m samples.
Taps make_taps(int n, int m, ResizeFilter filter) {
  const double scale = static_cast<double>(n) / m;
  const double filter_scale = std::max(scale, 1.0);
  const double support = filter_scale * (filter == ResizeFilter::kLanczos ? 3.0 : 2.0);
  const double inverse_scale = 1.0 / filter_scale;
  Taps taps;
  constexpr size_t kGroup = resize_rows::kGroup;
  taps.per_sample = (static_cast<size_t>(2 * support + 1) + kGroup) / kGroup * kGroup;
  taps.weights.resize(checked_mul(static_cast<size_t>(m), taps.per_sample) + kGroup);
  std::vector<double> weights;
  for (int i = 0; i < m; ++i) {
    const double centre = (i + 0.5) * scale;
    const int lo = std::max(0, static_cast<int>(centre - support + 0.5));
    const int hi = std::min(n, static_cast<int>(centre + support + 0.5));
    weights.clear();
    double sum = 0;
    for (int k = lo; k < hi; ++k) {
      const double x = (k - centre + 0.5) * inverse_scale;
      weights.push_back(filter == ResizeFilter::kLanczos ? lanczos(x) : bicubic(x));
      sum += weights.back();
    }
    taps.first.push_back(static_cast<size_t>(lo));
    taps.count.push_back(weights.size());
    int32_t* out = taps.weights.data() + static_cast<size_t>(i) * taps.per_sample;
    for (const double weight : weights) *out++ = quantised(sum != 0 ? weight / sum : weight);
  }
  return taps;
}

Image resize_horizontally(const Image& source, int width, ResizeFilter filter) {
  const Taps taps = make_taps(source.width, width, filter);
  Image out{width, source.height, {}};
  const size_t in_bytes = static_cast<size_t>(source.width) * kChannels, out_bytes = static_cast<size_t>(width) * kChannels;
  out.rgb.reserve(out_bytes * static_cast<size_t>(source.height));
  std::vector<uint8_t> in_row(in_bytes + kSlackBytes), out_row(out_bytes + kSlackBytes);
  for (int y = 0; y < source.height; ++y) {
    const uint8_t* row = source.pixel(0, y);
    // The rows of a border of one colour are all the same.
    if (y == 0 || !std::equal(row, row + in_bytes, in_row.data())) {
      std::copy_n(row, in_bytes, in_row.data());
      resize_rows::across(in_row.data(), taps, out_row.data());
    }
    out.rgb.insert(out.rgb.end(), out_row.begin(), out_row.begin() + static_cast<std::ptrdiff_t>(out_bytes));
  }
  return out;
}

Image resize_vertically(const Image& source, int height, ResizeFilter filter) {
  const Taps taps = make_taps(source.height, height, filter);
  const size_t row_bytes = static_cast<size_t>(source.width) * kChannels;
  Image out{source.width, height, std::vector<uint8_t>(row_bytes * static_cast<size_t>(height))};
  for (size_t y = 0; y < taps.first.size(); ++y) {
    resize_rows::down(source.rgb.data() + row_bytes * taps.first[y], row_bytes, taps.weights_of(y), row_bytes,
                      out.rgb.data() + row_bytes * y);
  }
  return out;
}

}  // namespace

Image resize_image(const Image& source, int width, int height, ResizeFilter filter) {
  POINTMAP_CHECK(source.width > 0 && source.height > 0 && width > 0 && height > 0,
                 "resize from " + std::to_string(source.width) + " x " + std::to_string(source.height) + " to " + std::to_string(width) +
                     " x " + std::to_string(height) + ": sizes must be positive");
  // Pillow's one exception to "horizontal pass first": more than 100 times taller than wide, and shrinking in height.
  if (static_cast<int64_t>(source.height) > 100 * static_cast<int64_t>(source.width) && height < source.height) {
    const Image shrunk = resize_vertically(source, height, filter);
    return width == source.width ? shrunk : resize_horizontally(shrunk, width, filter);
  }
  if (width == source.width) return height == source.height ? source : resize_vertically(source, height, filter);
  const Image across = resize_horizontally(source, width, filter);
  return height == source.height ? across : resize_vertically(across, height, filter);
}

}  // namespace pointmap
