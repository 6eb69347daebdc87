#include "kernels/cpu/layer_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/layer_norm.cc"  // NOLINT
#include "hwy/foreach_target.h"                         // IWYU pragma: keep
#include "hwy/highway.h"

#ifndef POINTMAP_KERNELS_CPU_LAYER_NORM_ONCE_
#define POINTMAP_KERNELS_CPU_LAYER_NORM_ONCE_
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pointmap::cpu {
struct NormRow {
  const float* x;
  const float* gamma;
  const float* beta;
  int64_t channels;
  double eps;
};
}  // namespace pointmap::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sums of x - shift and of its square. Every vector of a group of four has sums of its own: short chains, small errors.
struct Moments {
  double sum, squares;
};
Moments moments_about(const float* HWY_RESTRICT x, int64_t channels, float shift) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto shifts = hn::Set(d, shift);
  hn::Vec<decltype(d)> sums[4], squares[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) sums[i] = squares[i] = hn::Zero(d);
  int64_t c = 0;
  for (; c + 4 * lanes <= channels; c += 4 * lanes) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const auto v = hn::Sub(hn::LoadU(d, x + c + i * lanes), shifts);
      sums[i] = hn::Add(sums[i], v);
      squares[i] = hn::MulAdd(v, v, squares[i]);
    }
  }
  Moments moments{hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])))),
                  hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(squares[0], squares[1]), hn::Add(squares[2], squares[3]))))};
  for (; c < channels; ++c) {
    const double v = static_cast<double>(x[c]) - shift;
    moments.sum += v;
    moments.squares += v * v;
  }
  return moments;
}

// y may be row.x: all of it has been read when the first element is written, and every vector is read before it is written.
void normalize_row(const NormRow& row, float* y) {
  const auto count = static_cast<double>(row.channels);
  const auto mean = static_cast<float>(moments_about(row.x, row.channels, 0).sum / count);
  // The float mean is off by a rounding of its own size, which matters where it is large beside the spread: what is left of the mean
  // after subtracting it is taken off below.
  const Moments rest = moments_about(row.x, row.channels, mean);
  const double rest_mean = rest.sum / count;
  const double scale = 1 / std::sqrt(std::max(rest.squares / count - rest_mean * rest_mean, 0.0) + row.eps);

  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto means = hn::Set(d, mean), scales = hn::Set(d, static_cast<float>(scale));
  const auto rests = hn::Set(d, static_cast<float>(-rest_mean * scale));
  int64_t c = 0;
  for (; c + lanes <= row.channels; c += lanes) {
    const auto normal = hn::MulAdd(hn::Sub(hn::LoadU(d, row.x + c), means), scales, rests);
    hn::StoreU(hn::MulAdd(normal, hn::LoadU(d, row.gamma + c), hn::LoadU(d, row.beta + c)), d, y + c);
  }
  for (; c < row.channels; ++c) {
    y[c] = static_cast<float>((static_cast<double>(row.x[c]) - mean - rest_mean) * scale * row.gamma[c] + row.beta[c]);
  }
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pointmap::cpu {
namespace {

HWY_EXPORT(normalize_row);

}  // namespace

void layer_norm(ThreadPool& pool, const LayerNormInputs& inputs, float* y) {
  const int64_t channels = inputs.x.shape()[-1];
  const float *x = inputs.x.data<float>(), *gamma = inputs.gamma.data<float>(), *beta = inputs.beta.data<float>();
  const auto normalize = HWY_DYNAMIC_DISPATCH(normalize_row);
  pool.parallel_for(static_cast<size_t>(inputs.x.num_rows()), [&](size_t task, size_t) {
    const auto i = static_cast<int64_t>(task);
    normalize({x + i * inputs.x.row_stride(), gamma, beta, channels, inputs.eps}, y + i * channels);
  });
}

void layer_norm_heads(ThreadPool& pool, Tensor& x, const NormParameters& norm, NormHeads heads) {
  const int64_t row_floats = x.shape()[-1], head_dim = norm.gamma.shape()[0];
  const float *gamma = norm.gamma.data<float>(), *beta = norm.beta.data<float>();
  float* const first = x.data<float>() + heads.channel_begin;
  const auto normalize = HWY_DYNAMIC_DISPATCH(normalize_row);
  pool.parallel_for(static_cast<size_t>(x.view().num_rows()), [&](size_t task, size_t) {
    float* head = first + static_cast<int64_t>(task) * row_floats;
    for (int64_t h = 0; h < heads.num_heads; ++h, head += head_dim) normalize({head, gamma, beta, head_dim, norm.eps}, head);
  });
}

}  // namespace pointmap::cpu
#endif
