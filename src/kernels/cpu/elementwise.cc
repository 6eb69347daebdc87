#include "kernels/cpu/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/elementwise.cc"  // NOLINT
#include "hwy/foreach_target.h"                          // IWYU pragma: keep
#include "hwy/highway.h"

#ifndef POINTMAP_KERNELS_CPU_ELEMENTWISE_ONCE_
#define POINTMAP_KERNELS_CPU_ELEMENTWISE_ONCE_
#include <algorithm>
#include <cstdint>
#endif

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// y = a + b; y may be a.
void add_range(const float* a, const float* b, int64_t count, float* y) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  for (; i < count; ++i) y[i] = a[i] + b[i];
}

// y = a b + c.
void multiply_add_range(const float* a, const float* b, const float* c, int64_t count, float* y) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, c + i)), d, y + i);
  }
  for (; i < count; ++i) y[i] = a[i] * b[i] + c[i];
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pointmap::cpu {
namespace {

HWY_EXPORT(add_range);
HWY_EXPORT(multiply_add_range);

constexpr int64_t kChunk = 1 << 14;  // elements of a task: enough work to be worth a thread's while

// Row `row` of x, or the only row of a view with one dimension.
const float* row_of(TensorView x, int64_t row) {
  return x.data<float>() + (x.shape().rank() == 1 ? 0 : row * x.row_stride());
}

// fn(begin, end) for stretches of rows of `channels` elements, together about kChunk elements each.
template <typename Fn>
void for_rows(ThreadPool& pool, int64_t num_rows, int64_t channels, const Fn& fn) {
  const int64_t rows_per_task = std::max<int64_t>(1, kChunk / std::max<int64_t>(1, channels));
  pool.parallel_for(static_cast<size_t>((num_rows + rows_per_task - 1) / rows_per_task), [&](size_t task, size_t) {
    const int64_t begin = static_cast<int64_t>(task) * rows_per_task;
    fn(begin, std::min(num_rows, begin + rows_per_task));
  });
}

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

void multiply_add(ThreadPool& pool, const MultiplyAddInputs& in, Tensor& y) {
  const int64_t channels = in.a.shape()[-1];
  float* const out = y.data<float>();
  const auto multiply_add_row = HWY_DYNAMIC_DISPATCH(multiply_add_range);
  for_rows(pool, in.a.num_rows(), channels, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      multiply_add_row(row_of(in.a, row), row_of(in.b, row), row_of(in.c, row), channels, out + row * channels);
    }
  });
}

void at_least(ThreadPool& pool, TensorView x, TensorView floor, Tensor& y) {
  const int64_t channels = x.shape()[-1];
  const float* const least = floor.data<float>();
  float* const out = y.data<float>();
  for_rows(pool, x.num_rows(), channels, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* in = row_of(x, row);
      for (int64_t c = 0; c < channels; ++c) out[row * channels + c] = in[c] < least[c] ? least[c] : in[c];
    }
  });
}

void add_columns_and_rows(ThreadPool& pool, Tensor& x, TensorView by_column, TensorView by_row) {
  const int64_t height = x.shape()[1], width = x.shape()[2], half = x.shape()[3] / 2;
  const float *columns = by_column.data<float>(), *rows = by_row.data<float>();
  float* const out = x.data<float>();
  const auto add_half = HWY_DYNAMIC_DISPATCH(add_range);
  pool.parallel_for(static_cast<size_t>(x.shape()[0] * height), [&](size_t task, size_t) {
    const auto line = static_cast<int64_t>(task);
    const float* row = rows + line % height * half;
    float* pixel = out + line * width * 2 * half;
    for (int64_t column = 0; column < width; ++column, pixel += 2 * half) {
      add_half(pixel, columns + column * half, half, pixel);
      add_half(pixel + half, row, half, pixel + half);
    }
  });
}

void concat_last(ThreadPool& pool, TensorView a, TensorView b, Tensor& y) {
  const int64_t channels = y.shape()[-1];
  float* const out = y.data<float>();
  for_rows(pool, a.num_rows(), channels, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float* second = std::copy_n(row_of(a, row), a.shape()[-1], out + row * channels);
      std::copy_n(row_of(b, row), b.shape()[-1], second);
    }
  });
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

}  // namespace pointmap::cpu
#endif
