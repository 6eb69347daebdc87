#include "kernels/cpu/upsample.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/upsample.cc"  // NOLINT
#include "hwy/foreach_target.h"                       // IWYU pragma: keep
#include "hwy/highway.h"

#ifndef POINTMAP_KERNELS_CPU_UPSAMPLE_ONCE_
#define POINTMAP_KERNELS_CPU_UPSAMPLE_ONCE_
#include <algorithm>
#include <cstdint>
#include <vector>

namespace pointmap::cpu {

// Two neighbours on one axis and their weights.
struct BilinearTaps {
  int64_t first, second;
  float first_weight, second_weight;
};

}  // namespace pointmap::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One row of output from its two rows of input, `top` and `bottom`; columns counts output pixels.
void interpolate_row(const float* top, const float* bottom, const BilinearTaps& rows, const std::vector<BilinearTaps>& columns,
                     int64_t channels, float* HWY_RESTRICT out) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto up = hn::Set(d, rows.first_weight), down = hn::Set(d, rows.second_weight);
  for (const BilinearTaps& column : columns) {
    const float *top0 = top + column.first * channels, *top1 = top + column.second * channels;
    const float *bottom0 = bottom + column.first * channels, *bottom1 = bottom + column.second * channels;
    const auto left = hn::Set(d, column.first_weight), right = hn::Set(d, column.second_weight);
    int64_t c = 0;
    for (; c + lanes <= channels; c += lanes) {
      const auto above = hn::MulAdd(right, hn::LoadU(d, top1 + c), hn::Mul(left, hn::LoadU(d, top0 + c)));
      const auto below = hn::MulAdd(right, hn::LoadU(d, bottom1 + c), hn::Mul(left, hn::LoadU(d, bottom0 + c)));
      hn::StoreU(hn::MulAdd(down, below, hn::Mul(up, above)), d, out + c);
    }
    for (; c < channels; ++c) {
      const float above = column.first_weight * top0[c] + column.second_weight * top1[c];
      const float below = column.first_weight * bottom0[c] + column.second_weight * bottom1[c];
      out[c] = rows.first_weight * above + rows.second_weight * below;
    }
    out += channels;
  }
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pointmap::cpu {
namespace {

HWY_EXPORT(interpolate_row);

// The source coordinate is a fraction of integers: whole and rest of one division, with no rounding before the weights.
BilinearTaps taps_at(int64_t out_index, int64_t in_size, int64_t out_size, UpsampleMode mode) {
  int64_t numerator = 0, denominator = 1;
  if (mode == UpsampleMode::kHalfPixel) {
    numerator = std::max<int64_t>((2 * out_index + 1) * in_size - out_size, 0);
    denominator = 2 * out_size;
  } else if (out_size > 1) {
    numerator = out_index * (in_size - 1);
    denominator = out_size - 1;
  }
  const int64_t first = std::min(numerator / denominator, in_size - 1);
  const double rest = static_cast<double>(numerator - first * denominator) / static_cast<double>(denominator);
  return {first, std::min(first + 1, in_size - 1), static_cast<float>(1 - rest), static_cast<float>(rest)};
}

}  // namespace

void upsample_bilinear(ThreadPool& pool, TensorView x, UpsampleMode mode, Tensor& y) {
  const int64_t in_height = x.shape()[1], in_width = x.shape()[2], channels = x.shape()[3];
  const int64_t out_height = y.shape()[1], out_width = y.shape()[2];
  std::vector<BilinearTaps> columns;
  for (int64_t ox = 0; ox < out_width; ++ox) columns.push_back(taps_at(ox, in_width, out_width, mode));
  const float* const in = x.data<float>();
  float* const out = y.data<float>();
  const auto interpolate = HWY_DYNAMIC_DISPATCH(interpolate_row);
  pool.parallel_for(static_cast<size_t>(y.shape()[0] * out_height), [&](size_t task, size_t) {
    const auto row = static_cast<int64_t>(task);
    const BilinearTaps rows = taps_at(row % out_height, in_height, out_height, mode);
    const float* const image = in + row / out_height * in_height * in_width * channels;
    interpolate(image + rows.first * in_width * channels, image + rows.second * in_width * channels, rows, columns, channels,
                out + row * out_width * channels);
  });
}

}  // namespace pointmap::cpu
#endif
