// Separable resampling in 8-bit fixed point: weights in double, quantised to 22 fractional bits, summed in 32-bit integers.
#include "io/image/resize.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/check.h"

namespace pointmap {
namespace {

constexpr int kWeightBits = 22;
constexpr int32_t kRounding = 1 << (kWeightBits - 1);
constexpr int kChannels = 3;
constexpr int kRowsAtOnce = 16;  // of the horizontal pass: one lane per row, so that the compiler can vectorise over rows

// The weights of one output sample: sources first, first + 1, ... weigh weights[0], weights[1], ...
struct Taps {
  int first = 0;
  std::vector<int32_t> weights;
};

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
  const double scaled = weight * (1 << kWeightBits);
  return static_cast<int32_t>(weight < 0 ? scaled - 0.5 : scaled + 0.5);  // the cast truncates towards zero
}

// One Taps per output sample of an axis that goes from n to m samples.
std::vector<Taps> make_taps(int n, int m, ResizeFilter filter) {
  const double scale = static_cast<double>(n) / m;
  const double filter_scale = std::max(scale, 1.0);
  const double support = filter_scale * (filter == ResizeFilter::kLanczos ? 3.0 : 2.0);
  const double inverse_scale = 1.0 / filter_scale;
  std::vector<Taps> taps(static_cast<size_t>(m));
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
    Taps& out = taps[static_cast<size_t>(i)];
    out.first = lo;
    for (const double weight : weights) out.weights.push_back(quantised(sum != 0 ? weight / sum : weight));
  }
  return taps;
}

// |sum| <= 255 * sum |w|, and the negative lobes of both filters add less than 0.6 to sum w = 1: fits 32 bits.
uint8_t to_byte(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

// Columns of up to kRowsAtOnce rows side by side: [width, 3, kRowsAtOnce]. Missing rows keep what was there; nobody reads them.
void interleave_rows(const Image& source, int first_row, int rows, std::vector<uint8_t>& out) {
  const size_t row_bytes = static_cast<size_t>(source.width) * kChannels;
  for (int r = 0; r < rows; ++r) {
    const uint8_t* in = source.pixel(0, first_row + r);
    for (size_t i = 0; i < row_bytes; ++i) out[i * kRowsAtOnce + static_cast<size_t>(r)] = in[i];
  }
}

Image resize_horizontally(const Image& source, int width, ResizeFilter filter) {
  const std::vector<Taps> taps = make_taps(source.width, width, filter);
  Image out{width, source.height, std::vector<uint8_t>(static_cast<size_t>(width) * static_cast<size_t>(source.height) * kChannels)};
  std::vector<uint8_t> columns(static_cast<size_t>(source.width) * kChannels * kRowsAtOnce);
  for (int y = 0; y < source.height; y += kRowsAtOnce) {
    const int rows = std::min(kRowsAtOnce, source.height - y);
    interleave_rows(source, y, rows, columns);
    for (int x = 0; x < width; ++x) {
      const Taps& tap = taps[static_cast<size_t>(x)];
      int32_t sums[kChannels * kRowsAtOnce];
      std::fill(std::begin(sums), std::end(sums), kRounding);
      const uint8_t* in = columns.data() + static_cast<size_t>(tap.first) * kChannels * kRowsAtOnce;
      for (const int32_t weight : tap.weights) {
        for (int lane = 0; lane < kChannels * kRowsAtOnce; ++lane) sums[lane] += weight * in[lane];
        in += kChannels * kRowsAtOnce;
      }
      for (int r = 0; r < rows; ++r) {
        uint8_t* pixel = out.rgb.data() + (static_cast<size_t>(y + r) * static_cast<size_t>(width) + static_cast<size_t>(x)) * kChannels;
        for (int c = 0; c < kChannels; ++c) pixel[c] = to_byte(sums[c * kRowsAtOnce + r]);
      }
    }
  }
  return out;
}

Image resize_vertically(const Image& source, int height, ResizeFilter filter) {
  const std::vector<Taps> taps = make_taps(source.height, height, filter);
  const size_t row_bytes = static_cast<size_t>(source.width) * kChannels;
  Image out{source.width, height, std::vector<uint8_t>(row_bytes * static_cast<size_t>(height))};
  std::vector<int32_t> sums(row_bytes);
  for (int y = 0; y < height; ++y) {
    const Taps& tap = taps[static_cast<size_t>(y)];
    std::fill(sums.begin(), sums.end(), kRounding);
    const uint8_t* in = source.pixel(0, tap.first);
    for (const int32_t weight : tap.weights) {
      for (size_t i = 0; i < row_bytes; ++i) sums[i] += weight * in[i];
      in += row_bytes;
    }
    uint8_t* row = out.rgb.data() + row_bytes * static_cast<size_t>(y);
    for (size_t i = 0; i < row_bytes; ++i) row[i] = to_byte(sums[i]);
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
