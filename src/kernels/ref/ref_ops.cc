// Ops without weights to pack: rotation, normalisation, resampling, copies and the activation of point maps.
#include "kernels/ref/ref_ops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace pointmap {
namespace {

// Two neighbours on one axis and the weight of the second.
struct Taps {
  int64_t first, second;
  double second_weight;
};

Taps taps_at(int64_t out_index, int64_t in_size, int64_t out_size, UpsampleMode mode) {
  double source = 0;
  if (mode == UpsampleMode::kHalfPixel) {
    source = (static_cast<double>(out_index) + 0.5) * static_cast<double>(in_size) / static_cast<double>(out_size) - 0.5;
    source = std::max(source, 0.0);
  } else if (out_size > 1) {
    source = static_cast<double>(out_index * (in_size - 1)) / static_cast<double>(out_size - 1);
  }
  const int64_t first = std::min(static_cast<int64_t>(source), in_size - 1);
  return {first, std::min(first + 1, in_size - 1), source - static_cast<double>(first)};
}

// y [channels] = (x - mean) / sqrt(var + eps) gamma + beta; y may be x.
void normalize_row(const float* x, int64_t channels, const NormParameters& norm, float* y) {
  double mean = 0, variance = 0;
  for (int64_t c = 0; c < channels; ++c) mean += x[c];
  mean /= static_cast<double>(channels);
  for (int64_t c = 0; c < channels; ++c) variance += (x[c] - mean) * (x[c] - mean);
  variance /= static_cast<double>(channels);
  const double scale = 1 / std::sqrt(variance + norm.eps);
  for (int64_t c = 0; c < channels; ++c) {
    y[c] = static_cast<float>((x[c] - mean) * scale * norm.gamma.data<float>()[c] + norm.beta.data<float>()[c]);
  }
}

// Row `row` of x, or the only row of a view with one dimension.
const float* row_of(TensorView x, int64_t row) {
  return x.data<float>() + (x.shape().rank() == 1 ? 0 : row * x.row_stride());
}

// 1 + exp(c), the confidence of every dense head.
float confidence_of(float c) {
  return static_cast<float>(1 + std::exp(static_cast<double>(c)));
}

}  // namespace

void RefOps::do_rope2d(Tensor& x, const RopeTable& table, int64_t channel_begin, int64_t num_heads) {
  const int64_t num_tokens = table.cos.shape()[0], channels = x.shape()[2], angles = table.cos.shape()[1], quarter = angles / 2;
  context().pool.parallel_for(static_cast<size_t>(x.view().num_rows()), [&](size_t task, size_t) {
    const auto row = static_cast<int64_t>(task);
    const float* cos = table.cos.data<float>() + row % num_tokens * angles;
    const float* sin = table.sin.data<float>() + row % num_tokens * angles;
    for (int64_t head = 0; head < num_heads; ++head) {
      float* channel = x.data<float>() + row * channels + channel_begin + head * 2 * angles;
      for (int64_t half = 0; half < 2; ++half) {
        for (int64_t k = 0; k < quarter; ++k) {
          float& first = channel[half * angles + k];
          float& second = channel[half * angles + quarter + k];
          const double u = first, v = second, c = cos[half * quarter + k], s = sin[half * quarter + k];
          first = static_cast<float>(u * c - v * s);
          second = static_cast<float>(v * c + u * s);
        }
      }
    }
  });
}

void RefOps::do_layer_norm(TensorView x, TensorView gamma, TensorView beta, float eps, Tensor& y) {
  const int64_t channels = x.shape()[-1];
  context().pool.parallel_for(static_cast<size_t>(x.num_rows()), [&](size_t task, size_t) {
    const auto row = static_cast<int64_t>(task);
    normalize_row(row_of(x, row), channels, {gamma, beta, eps}, y.data<float>() + row * channels);
  });
}

void RefOps::do_layer_norm_heads(Tensor& x, const NormParameters& norm, int64_t channel_begin, int64_t num_heads) {
  const int64_t head_dim = norm.gamma.shape()[0];
  for (int64_t row = 0; row < x.view().num_rows(); ++row) {
    float* head = x.data<float>() + row * x.shape()[-1] + channel_begin;
    for (int64_t h = 0; h < num_heads; ++h, head += head_dim) normalize_row(head, head_dim, norm, head);
  }
}

void RefOps::do_add(TensorView a, TensorView b, Tensor& y) {
  for (int64_t i = 0; i < y.shape().num_elements(); ++i) y.data<float>()[i] = a.data<float>()[i] + b.data<float>()[i];
}

void RefOps::do_multiply_add(TensorView a, TensorView b, TensorView c, Tensor& y) {
  const int64_t channels = a.shape()[-1];
  for (int64_t row = 0; row < a.num_rows(); ++row) {
    const float *factor = row_of(a, row), *other = row_of(b, row), *summand = row_of(c, row);
    float* out = y.data<float>() + row * channels;
    for (int64_t i = 0; i < channels; ++i) out[i] = static_cast<float>(static_cast<double>(factor[i]) * other[i] + summand[i]);
  }
}

void RefOps::do_at_least(TensorView x, TensorView floor, Tensor& y) {
  const int64_t channels = x.shape()[-1];
  for (int64_t row = 0; row < x.num_rows(); ++row) {
    const float* in = row_of(x, row);
    for (int64_t c = 0; c < channels; ++c) {
      const float least = floor.data<float>()[c];
      y.data<float>()[row * channels + c] = in[c] < least ? least : in[c];
    }
  }
}

void RefOps::do_concat_last(TensorView a, TensorView b, Tensor& y) {
  float* out = y.data<float>();
  for (int64_t row = 0; row < a.num_rows(); ++row) {
    out = std::copy_n(row_of(a, row), a.shape()[-1], out);
    out = std::copy_n(row_of(b, row), b.shape()[-1], out);
  }
}

void RefOps::do_add_columns_and_rows(Tensor& x, TensorView by_column, TensorView by_row) {
  const int64_t height = x.shape()[1], width = x.shape()[2], half = x.shape()[3] / 2;
  for (int64_t pixel = 0; pixel < x.view().num_rows(); ++pixel) {
    const float* column = by_column.data<float>() + pixel % width * half;
    const float* row = by_row.data<float>() + pixel / width % height * half;
    float* channel = x.data<float>() + pixel * 2 * half;
    for (int64_t c = 0; c < half; ++c) {
      channel[c] += column[c];
      channel[half + c] += row[c];
    }
  }
}

void RefOps::do_upsample_bilinear(TensorView x, UpsampleMode mode, Tensor& y) {
  const int64_t in_height = x.shape()[1], in_width = x.shape()[2], channels = x.shape()[3];
  const int64_t out_height = y.shape()[1], out_width = y.shape()[2];
  context().pool.parallel_for(static_cast<size_t>(y.shape()[0] * out_height), [&](size_t task, size_t) {
    const int64_t image = static_cast<int64_t>(task) / out_height, oy = static_cast<int64_t>(task) % out_height;
    const Taps rows = taps_at(oy, in_height, out_height, mode);
    const auto pixel = [&](int64_t iy, int64_t ix) { return x.data<float>() + ((image * in_height + iy) * in_width + ix) * channels; };
    for (int64_t ox = 0; ox < out_width; ++ox) {
      const Taps columns = taps_at(ox, in_width, out_width, mode);
      const auto across = [&](int64_t iy, int64_t c) {
        return (1 - columns.second_weight) * pixel(iy, columns.first)[c] + columns.second_weight * pixel(iy, columns.second)[c];
      };
      float* out = y.data<float>() + ((image * out_height + oy) * out_width + ox) * channels;
      for (int64_t c = 0; c < channels; ++c) {
        out[c] = static_cast<float>((1 - rows.second_weight) * across(rows.first, c) + rows.second_weight * across(rows.second, c));
      }
    }
  });
}

void RefOps::do_crop(TensorView x, Tensor& y) {
  const int64_t row_elements = y.shape()[2] * y.shape()[3];
  for (int64_t image = 0; image < y.shape()[0]; ++image) {
    for (int64_t row = 0; row < y.shape()[1]; ++row) {
      const float* from = x.data<float>() + (image * x.shape()[1] + row) * x.shape()[2] * x.shape()[3];
      std::copy(from, from + row_elements, y.data<float>() + (image * y.shape()[1] + row) * row_elements);
    }
  }
}

void RefOps::do_pixel_shuffle(TensorView x, int64_t factor, Tensor& y) {
  const int64_t height = y.shape()[1], width = y.shape()[2], channels = y.shape()[3];
  float* out = y.data<float>();
  for (int64_t row = 0; row < y.shape()[0] * height; ++row) {  // images lie below one another, so rows need no image index
    for (int64_t column = 0; column < width; ++column) {
      const float* in = x.data<float>() + (row / factor * (width / factor) + column / factor) * x.shape()[3];
      for (int64_t c = 0; c < channels; ++c) *out++ = in[c * factor * factor + row % factor * factor + column % factor];
    }
  }
}

void RefOps::do_activate_pointmap_exp(TensorView raw, Pointmap& out) {
  for (int64_t i = 0; i < raw.num_rows(); ++i) {
    const float* in = raw.data<float>() + i * 4;
    const double x = in[0], y = in[1], z = in[2];
    const double norm = std::sqrt(x * x + y * y + z * z);
    double distance = std::expm1(norm);
    // As float32 has it: no finite distance beyond its range, and 0 * inf is NaN.
    if (distance > std::numeric_limits<float>::max()) distance = std::numeric_limits<double>::infinity();
    for (int64_t c = 0; c < 3; ++c) out.points.data<float>()[i * 3 + c] = static_cast<float>(in[c] / std::max(norm, 1e-8) * distance);
    out.confidence.data<float>()[i] = confidence_of(in[3]);
  }
}

void RefOps::do_activate_pointmap_inv_log(TensorView raw, Pointmap& out) {
  for (int64_t i = 0; i < raw.num_rows(); ++i) {
    const float* in = raw.data<float>() + i * 4;
    for (int64_t c = 0; c < 3; ++c) {
      const double v = in[c];
      out.points.data<float>()[i * 3 + c] = static_cast<float>(std::copysign(std::expm1(std::abs(v)), v));
    }
    out.confidence.data<float>()[i] = confidence_of(in[3]);
  }
}

void RefOps::do_activate_depth_exp(TensorView raw, Depthmap& out) {
  for (int64_t i = 0; i < raw.num_rows(); ++i) {
    const float* in = raw.data<float>() + i * 2;
    out.depth.data<float>()[i] = static_cast<float>(std::exp(static_cast<double>(in[0])));
    out.confidence.data<float>()[i] = confidence_of(in[1]);
  }
}

void RefOps::do_copy(const void* from, void* to, size_t bytes) {
  std::memcpy(to, from, bytes);
}

}  // namespace pointmap
