// Ops that are sums of products: linear, the two convolutions, attention.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/ref/ref_ops.h"

namespace pointmap {
namespace {

// Weights and bias widened to F32, the output channel fastest, so that a loop over inputs updates all outputs of one row.
struct RefWeights {
  Tensor by_input;  // linear [K, N]; convolutions [kh, kw, I, O]
  Tensor bias;      // [N], empty for none
};
struct RefLinear : PackedLinear, RefWeights {
  Tensor scale;  // [N], empty for none
};
struct RefConv2d : PackedConv2d, RefWeights {};
struct RefConvTranspose2d : PackedConvTranspose2d, RefWeights {};

float weight_at(TensorView weight, int64_t index) {
  switch (weight.dtype()) {
    case DType::kF16:
      return float_from_f16(static_cast<const uint16_t*>(weight.raw())[index]);
    case DType::kBF16:
      return float_from_bf16(static_cast<const uint16_t*>(weight.raw())[index]);
    default:
      return weight.data<float>()[index];
  }
}

Tensor widened(Arena& arena, TensorView source) {
  if (source.empty()) return {};
  Tensor out(arena, DType::kF32, source.shape());
  for (int64_t i = 0; i < source.shape().num_elements(); ++i) out.data<float>()[i] = weight_at(source, i);
  return out;
}

// Sums of one output row before activation: starts at the bias.
std::vector<double> sums_from_bias(const Tensor& bias, int64_t num_outputs) {
  std::vector<double> sums(static_cast<size_t>(num_outputs), 0.0);
  if (!bias.empty()) std::copy(bias.data<float>(), bias.data<float>() + num_outputs, sums.begin());
  return sums;
}

// sums[n] += x[k] weights[k, n] for all k.
void accumulate(const float* x, int64_t num_inputs, const float* weights, bool relu_input, std::vector<double>& sums) {
  for (int64_t k = 0; k < num_inputs; ++k) {
    const double input = relu_input ? std::max(x[k], 0.0f) : x[k];
    const float* row = weights + k * static_cast<int64_t>(sums.size());
    for (size_t n = 0; n < sums.size(); ++n) sums[n] += input * row[n];
  }
}

double activate(double x, Activation activation) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return std::max(x, 0.0);
    case Activation::kGelu:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));  // 1 + erf(t) = erfc(-t), which keeps its digits in the negative tail
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
  }
  return x;
}

// y[n] = activation(sums[n]) + residual[n], or + max(residual[n], 0); residual may be null.
void finish(const std::vector<double>& sums, Activation activation, const float* residual, bool relu_residual, float* y) {
  for (size_t n = 0; n < sums.size(); ++n) {
    double added = residual != nullptr ? residual[n] : 0.0;
    if (relu_residual) added = std::max(added, 0.0);
    y[n] = static_cast<float>(activate(sums[n], activation) + added);
  }
}

const float* residual_at(TensorView residual, int64_t offset) {
  return residual.empty() ? nullptr : residual.data<float>() + offset;
}

}  // namespace

std::unique_ptr<PackedLinear> RefOps::do_pack_linear(TensorView weight, TensorView bias, TensorView scale) {
  const int64_t n_out = weight.shape()[0], n_in = weight.shape()[1];
  auto packed = std::make_unique<RefLinear>();
  packed->by_input = Tensor(context().weights, DType::kF32, {n_in, n_out});
  for (int64_t n = 0; n < n_out; ++n) {
    for (int64_t k = 0; k < n_in; ++k) packed->by_input.data<float>()[k * n_out + n] = weight_at(weight, n * n_in + k);
  }
  packed->bias = widened(context().weights, bias);
  packed->scale = widened(context().weights, scale);
  return packed;
}

std::unique_ptr<PackedConv2d> RefOps::do_pack_conv2d(TensorView weight, TensorView bias, ConvGeometry) {
  const int64_t n_out = weight.shape()[0], n_in = weight.shape()[1], taps = weight.shape()[2] * weight.shape()[3];
  auto packed = std::make_unique<RefConv2d>();
  packed->by_input = Tensor(context().weights, DType::kF32, {weight.shape()[2], weight.shape()[3], n_in, n_out});
  for (int64_t o = 0; o < n_out; ++o) {
    for (int64_t i = 0; i < n_in; ++i) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        packed->by_input.data<float>()[(tap * n_in + i) * n_out + o] = weight_at(weight, (o * n_in + i) * taps + tap);
      }
    }
  }
  packed->bias = widened(context().weights, bias);
  return packed;
}

std::unique_ptr<PackedConvTranspose2d> RefOps::do_pack_conv_transpose2d(TensorView weight, TensorView bias) {
  const int64_t n_in = weight.shape()[0], n_out = weight.shape()[1], taps = weight.shape()[2] * weight.shape()[3];
  auto packed = std::make_unique<RefConvTranspose2d>();
  packed->by_input = Tensor(context().weights, DType::kF32, {weight.shape()[2], weight.shape()[3], n_in, n_out});
  for (int64_t i = 0; i < n_in; ++i) {
    for (int64_t o = 0; o < n_out; ++o) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        packed->by_input.data<float>()[(tap * n_in + i) * n_out + o] = weight_at(weight, (i * n_out + o) * taps + tap);
      }
    }
  }
  packed->bias = widened(context().weights, bias);
  return packed;
}

void RefOps::do_linear(TensorView x, const PackedLinear& w, const LinearOptions& options, OutputRows rows) {
  const auto& weights = dynamic_cast<const RefLinear&>(w);
  context().pool.parallel_for(static_cast<size_t>(x.num_rows()), [&](size_t task, size_t) {
    const auto row = static_cast<int64_t>(task);
    std::vector<double> sums = sums_from_bias(weights.bias, w.out_features);
    accumulate(x.data<float>() + row * x.row_stride(), w.in_features, weights.by_input.data<float>(), false, sums);
    for (size_t n = 0; !weights.scale.empty() && n < sums.size(); ++n) sums[n] *= weights.scale.data<float>()[n];
    finish(sums, options.activation, residual_at(options.residual, row * w.out_features), false,
           rows.y.data<float>() + (rows.first + row) * w.out_features);
  });
}

void RefOps::do_conv2d(TensorView x, const PackedConv2d& w, const ConvOptions& options, Tensor& y) {
  const auto& weights = dynamic_cast<const RefConv2d&>(w);
  const int64_t in_height = x.shape()[1], in_width = x.shape()[2], out_height = y.shape()[1], out_width = y.shape()[2];
  context().pool.parallel_for(static_cast<size_t>(y.shape()[0] * out_height), [&](size_t task, size_t) {
    const int64_t image = static_cast<int64_t>(task) / out_height, oy = static_cast<int64_t>(task) % out_height;
    for (int64_t ox = 0; ox < out_width; ++ox) {
      std::vector<double> sums = sums_from_bias(weights.bias, w.out_channels);
      for (int64_t ky = 0; ky < w.kernel_height; ++ky) {
        for (int64_t kx = 0; kx < w.kernel_width; ++kx) {
          const int64_t iy = oy * w.geometry.stride + ky - w.geometry.padding;
          const int64_t ix = ox * w.geometry.stride + kx - w.geometry.padding;
          if (iy < 0 || iy >= in_height || ix < 0 || ix >= in_width) continue;  // padding is zero
          const float* pixel = x.data<float>() + ((image * in_height + iy) * in_width + ix) * w.in_channels;
          const float* tap = weights.by_input.data<float>() + (ky * w.kernel_width + kx) * w.in_channels * w.out_channels;
          accumulate(pixel, w.in_channels, tap, options.relu_input, sums);
        }
      }
      const int64_t offset = ((image * out_height + oy) * out_width + ox) * w.out_channels;
      finish(sums, options.activation, residual_at(options.residual, offset), options.relu_residual, y.data<float>() + offset);
    }
  });
}

void RefOps::do_conv_transpose2d(TensorView x, const PackedConvTranspose2d& w, Tensor& y) {
  const auto& weights = dynamic_cast<const RefConvTranspose2d&>(w);
  const int64_t in_height = x.shape()[1], in_width = x.shape()[2], out_height = y.shape()[1], out_width = y.shape()[2];
  context().pool.parallel_for(static_cast<size_t>(y.shape()[0] * out_height), [&](size_t task, size_t) {
    const int64_t image = static_cast<int64_t>(task) / out_height, oy = static_cast<int64_t>(task) % out_height;
    for (int64_t ox = 0; ox < out_width; ++ox) {
      // kernel = stride: every output pixel has one input pixel and one tap.
      const int64_t tap = (oy % w.stride) * w.stride + ox % w.stride;
      const float* pixel = x.data<float>() + ((image * in_height + oy / w.stride) * in_width + ox / w.stride) * w.in_channels;
      std::vector<double> sums = sums_from_bias(weights.bias, w.out_channels);
      accumulate(pixel, w.in_channels, weights.by_input.data<float>() + tap * w.in_channels * w.out_channels, false, sums);
      finish(sums, Activation::kNone, nullptr, false, y.data<float>() + ((image * out_height + oy) * out_width + ox) * w.out_channels);
    }
  });
}

void RefOps::do_attention(TensorView q, TensorView k, TensorView v, const AttentionShape& shape, Tensor& y) {
  const int64_t channels = shape.num_heads * shape.head_dim;
  context().pool.parallel_for(static_cast<size_t>(shape.batch * shape.num_queries), [&](size_t task, size_t) {
    const auto row = static_cast<int64_t>(task);
    const int64_t first_key = row / shape.num_queries * shape.num_keys;
    std::vector<double> weights(static_cast<size_t>(shape.num_keys));
    for (int64_t head = 0; head < shape.num_heads; ++head) {
      const int64_t channel = head * shape.head_dim;
      const float* query = q.data<float>() + row * q.row_stride() + channel;
      double largest = -INFINITY;
      for (int64_t j = 0; j < shape.num_keys; ++j) {
        const float* key = k.data<float>() + (first_key + j) * k.row_stride() + channel;
        double dot = 0;
        for (int64_t c = 0; c < shape.head_dim; ++c) dot += static_cast<double>(query[c]) * key[c];
        weights[static_cast<size_t>(j)] = dot * shape.scale;
        largest = std::max(largest, dot * shape.scale);
      }
      double total = 0;
      std::vector<double> sums(static_cast<size_t>(shape.head_dim), 0.0);
      for (int64_t j = 0; j < shape.num_keys; ++j) {
        const double weight = std::exp(weights[static_cast<size_t>(j)] - largest);
        const float* value = v.data<float>() + (first_key + j) * v.row_stride() + channel;
        total += weight;
        for (size_t c = 0; c < sums.size(); ++c) sums[c] += weight * value[c];
      }
      for (double& sum : sums) sum /= total;
      finish(sums, Activation::kNone, nullptr, false, y.data<float>() + row * channels + channel);
    }
  });
}

}  // namespace pointmap
