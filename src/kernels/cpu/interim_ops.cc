// Plain loops for the ops whose vector code has not landed yet, so that models can run on CpuOps today. Each goes when its
// replacement comes; nothing is tuned here.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/attention.h"
#include "kernels/cpu/cpu_ops.h"

namespace pointmap {

void CpuOps::do_attention(TensorView q, TensorView k, TensorView v, const AttentionShape& shape, Tensor& y) {
  cpu::attention(context().pool, context().activations, {.q = q, .k = k, .v = v, .num_heads = shape.num_heads, .scale = shape.scale},
                 y.data<float>());
}

void CpuOps::do_rope2d(Tensor& x, const RopeTable& table, int64_t channel_begin, int64_t num_heads) {
  const int64_t num_tokens = x.shape()[1], channels = x.shape()[2], angles = table.cos.shape()[1], quarter = angles / 2;
  context().pool.parallel_for(static_cast<size_t>(x.shape()[0] * num_tokens), [&](size_t task, size_t) {
    const auto row = static_cast<int64_t>(task);
    const float* cos = table.cos.data<float>() + row % num_tokens * angles;
    const float* sin = table.sin.data<float>() + row % num_tokens * angles;
    for (int64_t half = 0; half < 2 * num_heads; ++half) {
      float* channel = x.data<float>() + row * channels + channel_begin + half * angles;
      for (int64_t i = 0; i < quarter; ++i) {
        const float u = channel[i], v = channel[quarter + i], c = cos[half % 2 * quarter + i], s = sin[half % 2 * quarter + i];
        channel[i] = u * c - v * s;
        channel[quarter + i] = v * c + u * s;
      }
    }
  });
}

void CpuOps::do_layer_norm(TensorView x, TensorView gamma, TensorView beta, float eps, Tensor& y) {
  const int64_t channels = x.shape()[-1];
  context().pool.parallel_for(static_cast<size_t>(x.num_rows()), [&](size_t task, size_t) {
    const float* in = x.data<float>() + static_cast<int64_t>(task) * x.row_stride();
    float* out = y.data<float>() + static_cast<int64_t>(task) * channels;
    double mean = 0, variance = 0;
    for (int64_t c = 0; c < channels; ++c) mean += in[c];
    mean /= static_cast<double>(channels);
    for (int64_t c = 0; c < channels; ++c) variance += (in[c] - mean) * (in[c] - mean);
    const double scale = 1 / std::sqrt(variance / static_cast<double>(channels) + eps);
    for (int64_t c = 0; c < channels; ++c) {
      out[c] = static_cast<float>((in[c] - mean) * scale * gamma.data<float>()[c] + beta.data<float>()[c]);
    }
  });
}

void CpuOps::do_add(TensorView a, TensorView b, Tensor& y) {
  for (int64_t i = 0; i < y.shape().num_elements(); ++i) y.data<float>()[i] = a.data<float>()[i] + b.data<float>()[i];
}

void CpuOps::do_upsample_bilinear(TensorView x, UpsampleMode mode, Tensor& y) {
  const int64_t in_height = x.shape()[1], in_width = x.shape()[2], channels = x.shape()[3];
  const int64_t out_height = y.shape()[1], out_width = y.shape()[2];
  const auto source = [mode](int64_t out, int64_t in_size, int64_t out_size) {
    if (mode == UpsampleMode::kAlignCorners) {
      return out_size > 1 ? static_cast<double>(out * (in_size - 1)) / static_cast<double>(out_size - 1) : 0.0;
    }
    return std::max(0.0, (static_cast<double>(out) + 0.5) * static_cast<double>(in_size) / static_cast<double>(out_size) - 0.5);
  };
  context().pool.parallel_for(static_cast<size_t>(y.shape()[0] * out_height), [&](size_t task, size_t) {
    const int64_t image = static_cast<int64_t>(task) / out_height;
    const double sy = source(static_cast<int64_t>(task) % out_height, in_height, out_height);
    const int64_t y0 = std::min(static_cast<int64_t>(sy), in_height - 1), y1 = std::min(y0 + 1, in_height - 1);
    const auto wy = static_cast<float>(sy - static_cast<double>(y0));
    const auto pixel = [&](int64_t iy, int64_t ix) { return x.data<float>() + ((image * in_height + iy) * in_width + ix) * channels; };
    float* out = y.data<float>() + static_cast<int64_t>(task) * out_width * channels;
    for (int64_t ox = 0; ox < out_width; ++ox) {
      const double sx = source(ox, in_width, out_width);
      const int64_t x0 = std::min(static_cast<int64_t>(sx), in_width - 1), x1 = std::min(x0 + 1, in_width - 1);
      const auto wx = static_cast<float>(sx - static_cast<double>(x0));
      const float *p00 = pixel(y0, x0), *p01 = pixel(y0, x1), *p10 = pixel(y1, x0), *p11 = pixel(y1, x1);
      for (int64_t c = 0; c < channels; ++c) {
        *out++ = (1 - wy) * ((1 - wx) * p00[c] + wx * p01[c]) + wy * ((1 - wx) * p10[c] + wx * p11[c]);
      }
    }
  });
}

void CpuOps::do_crop(TensorView x, Tensor& y) {
  const int64_t row_elements = y.shape()[2] * y.shape()[3];
  for (int64_t row = 0; row < y.shape()[0] * y.shape()[1]; ++row) {
    const int64_t in_row = row / y.shape()[1] * x.shape()[1] + row % y.shape()[1];
    const float* from = x.data<float>() + in_row * x.shape()[2] * x.shape()[3];
    std::copy(from, from + row_elements, y.data<float>() + row * row_elements);
  }
}

void CpuOps::do_pixel_shuffle(TensorView x, int64_t factor, Tensor& y) {
  const int64_t height = y.shape()[1], width = y.shape()[2], channels = y.shape()[3];
  context().pool.parallel_for(static_cast<size_t>(y.shape()[0] * height), [&](size_t task, size_t) {
    const auto row = static_cast<int64_t>(task);
    float* out = y.data<float>() + row * width * channels;
    for (int64_t column = 0; column < width; ++column) {
      const float* in = x.data<float>() + (row / factor * (width / factor) + column / factor) * x.shape()[3];
      for (int64_t c = 0; c < channels; ++c) *out++ = in[c * factor * factor + row % factor * factor + column % factor];
    }
  });
}

void CpuOps::do_activate_pointmap_exp(TensorView raw, Pointmap& out) {
  for (int64_t i = 0; i < raw.num_rows(); ++i) {
    const float* in = raw.data<float>() + i * 4;
    const float norm = std::sqrt(in[0] * in[0] + in[1] * in[1] + in[2] * in[2]);
    const float distance = std::expm1(norm);
    for (int64_t c = 0; c < 3; ++c) out.points.data<float>()[i * 3 + c] = in[c] / std::max(norm, 1e-8f) * distance;
    out.confidence.data<float>()[i] = 1 + std::exp(in[3]);
  }
}

}  // namespace pointmap
