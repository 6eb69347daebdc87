#include "kernels/cpu/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/elementwise.cc"  // NOLINT
#include "hwy/foreach_target.h"                          // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/math-inl.h"

#ifndef POINTMAP_KERNELS_CPU_ELEMENTWISE_ONCE_
#define POINTMAP_KERNELS_CPU_ELEMENTWISE_ONCE_
#include <algorithm>
#include <cstdint>
#endif

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {

void add_range(const float* a, const float* b, int64_t count, float* y) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  for (; i < count; ++i) y[i] = a[i] + b[i];
}

// One vector of pixels: raw [lanes, 4] -> points [lanes, 3], confidence [lanes].
HWY_INLINE void activate_vector(const float* raw, float* points, float* confidence) {
  const hn::ScalableTag<float> d;
  hn::Vec<decltype(d)> x, y, z, c;
  hn::LoadInterleaved4(d, raw, x, y, z, c);
  const auto norm = hn::Sqrt(hn::MulAdd(x, x, hn::MulAdd(y, y, hn::Mul(z, z))));
  const auto factor = hn::Div(vector_expm1(d, norm), at_least(d, norm, 1e-8f));
  hn::StoreInterleaved3(hn::Mul(x, factor), hn::Mul(y, factor), hn::Mul(z, factor), d, points);
  hn::StoreU(hn::Add(hn::Set(d, 2.0f), vector_expm1(d, c)), d, confidence);
}

void activate_range(const float* raw, int64_t count, float* points, float* confidence) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) activate_vector(raw + 4 * i, points + 3 * i, confidence + i);
  if (i == count) return;
  float last_raw[4 * HWY_LANES(float)] = {}, last_points[3 * HWY_LANES(float)], last_confidence[HWY_LANES(float)];
  std::copy_n(raw + 4 * i, 4 * (count - i), last_raw);
  activate_vector(last_raw, last_points, last_confidence);
  std::copy_n(last_points, 3 * (count - i), points + 3 * i);
  std::copy_n(last_confidence, count - i, confidence + i);
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pointmap::cpu {
namespace {

HWY_EXPORT(add_range);
HWY_EXPORT(activate_range);

constexpr int64_t kChunk = 1 << 14;  // elements of a task: enough work to be worth a thread's while

// fn(begin, count) for chunks of [0, total).
template <typename Fn>
void for_chunks(ThreadPool& pool, int64_t total, const Fn& fn) {
  pool.parallel_for(static_cast<size_t>((total + kChunk - 1) / kChunk), [&](size_t task, size_t) {
    const int64_t begin = static_cast<int64_t>(task) * kChunk;
    fn(begin, std::min(kChunk, total - begin));
  });
}

}  // namespace

void add(ThreadPool& pool, TensorView a, TensorView b, Tensor& y) {
  const float *left = a.data<float>(), *right = b.data<float>();
  float* const out = y.data<float>();
  const auto add_chunk = HWY_DYNAMIC_DISPATCH(add_range);
  for_chunks(pool, y.shape().num_elements(),
             [&](int64_t begin, int64_t count) { add_chunk(left + begin, right + begin, count, out + begin); });
}

void crop(ThreadPool& pool, TensorView x, Tensor& y) {
  const int64_t in_height = x.shape()[1], height = y.shape()[1], channels = x.shape()[3];
  const int64_t in_row = x.shape()[2] * channels, out_row = y.shape()[2] * channels;
  const float* const in = x.data<float>();
  float* const out = y.data<float>();
  pool.parallel_for(static_cast<size_t>(y.shape()[0] * height), [&](size_t task, size_t) {
    const auto row = static_cast<int64_t>(task);
    std::copy_n(in + (row / height * in_height + row % height) * in_row, out_row, out + row * out_row);
  });
}

void pixel_shuffle(ThreadPool& pool, TensorView x, int64_t factor, Tensor& y) {
  const int64_t in_width = x.shape()[2], features = x.shape()[3], channels = y.shape()[3], square = factor * factor;
  const float* const in = x.data<float>();
  float* const out = y.data<float>();
  // Images lie below one another, so rows need no image index.
  pool.parallel_for(static_cast<size_t>(x.shape()[0] * x.shape()[1] * factor), [&](size_t task, size_t) {
    const auto row = static_cast<int64_t>(task);
    const float* from = in + row / factor * in_width * features + row % factor * factor;
    float* to = out + row * in_width * factor * channels;
    for (int64_t column = 0; column < in_width; ++column, from += features) {
      for (int64_t j = 0; j < factor; ++j) {
        for (int64_t c = 0; c < channels; ++c) *to++ = from[c * square + j];
      }
    }
  });
}

void activate_pointmap_exp(ThreadPool& pool, TensorView raw, Pointmap& out) {
  const float* const in = raw.data<float>();
  float *const points = out.points.data<float>(), *const confidence = out.confidence.data<float>();
  const auto activate_chunk = HWY_DYNAMIC_DISPATCH(activate_range);
  for_chunks(pool, raw.num_rows(),
             [&](int64_t begin, int64_t count) { activate_chunk(in + 4 * begin, count, points + 3 * begin, confidence + begin); });
}

}  // namespace pointmap::cpu
#endif
