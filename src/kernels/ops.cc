// The part of every op that is the same on all devices: shape checks, the output tensor, time and FLOP accounts.
#include "kernels/ops.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/stopwatch.h"

namespace pointmap {
namespace {

bool is_float_weight(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

void check_weight(const char* op, TensorView weight, size_t rank, TensorView bias, int64_t out_channels) {
  POINTMAP_CHECK(weight.shape().rank() == rank && weight.is_contiguous() && is_float_weight(weight.dtype()),
                 std::string(op) + ": weight is " + std::string(dtype_name(weight.dtype())) + " " + weight.shape().to_string() +
                     ", want F32, F16 or BF16 with " + std::to_string(rank) + " dimensions");
  POINTMAP_CHECK(bias.empty() || (bias.shape() == Shape{out_channels} && is_float_weight(bias.dtype())),
                 std::string(op) + ": bias is " + bias.shape().to_string() + ", want [" + std::to_string(out_channels) + "]");
}

void check_f32(const char* op, TensorView x, bool rows_allowed = false) {
  POINTMAP_CHECK(!x.empty() && x.dtype() == DType::kF32, std::string(op) + ": input is empty or not F32");
  POINTMAP_CHECK(rows_allowed || x.is_contiguous(), std::string(op) + ": input " + x.shape().to_string() + " must be contiguous");
}

void check_map(const char* op, TensorView x, int64_t channels) {
  check_f32(op, x);
  POINTMAP_CHECK(x.shape().rank() == 4 && (channels < 0 || x.shape()[3] == channels),
                 std::string(op) + ": input is " + x.shape().to_string() + ", want [B, H, W, " +
                     (channels < 0 ? std::string("C") : std::to_string(channels)) + "]");
}

void check_residual(const char* op, TensorView residual, const Shape& output) {
  POINTMAP_CHECK(residual.empty() || (residual.shape() == output && residual.is_contiguous() && residual.dtype() == DType::kF32),
                 std::string(op) + ": residual is " + residual.shape().to_string() + ", output is " + output.to_string());
}

}  // namespace

template <typename Fn>
void Ops::timed(OpKind kind, double flops, const Fn& fn) {
  const Stopwatch watch;
  fn();
  OpStats& stats = stats_[static_cast<size_t>(kind)];
  ++stats.calls;
  stats.ms += watch.elapsed_ms();
  stats.flops += flops;
}

std::unique_ptr<PackedLinear> Ops::pack_linear(TensorView weight, TensorView bias, TensorView scale) {
  POINTMAP_CHECK(weight.shape().rank() == 2, "pack_linear: weight is " + weight.shape().to_string() + ", want [N, K]");
  check_weight("pack_linear", weight, 2, bias, weight.shape()[0]);
  POINTMAP_CHECK(scale.empty() || (scale.shape() == Shape{weight.shape()[0]} && is_float_weight(scale.dtype())),
                 "pack_linear: scale is " + scale.shape().to_string() + ", want [" + std::to_string(weight.shape()[0]) + "]");
  std::unique_ptr<PackedLinear> packed = do_pack_linear(weight, bias, scale);
  packed->out_features = weight.shape()[0];
  packed->in_features = weight.shape()[1];
  return packed;
}

std::unique_ptr<PackedConv2d> Ops::pack_conv2d(TensorView weight, TensorView bias, ConvGeometry geometry) {
  POINTMAP_CHECK(weight.shape().rank() == 4, "pack_conv2d: weight is " + weight.shape().to_string() + ", want [O, I, kh, kw]");
  check_weight("pack_conv2d", weight, 4, bias, weight.shape()[0]);
  POINTMAP_CHECK(geometry.stride >= 1 && geometry.padding >= 0, "pack_conv2d: stride must be at least 1, padding at least 0");
  std::unique_ptr<PackedConv2d> packed = do_pack_conv2d(weight, bias, geometry);
  packed->out_channels = weight.shape()[0];
  packed->in_channels = weight.shape()[1];
  packed->kernel_height = weight.shape()[2];
  packed->kernel_width = weight.shape()[3];
  packed->geometry = geometry;
  return packed;
}

std::unique_ptr<PackedConvTranspose2d> Ops::pack_conv_transpose2d(TensorView weight, TensorView bias) {
  POINTMAP_CHECK(weight.shape().rank() == 4 && weight.shape()[2] == weight.shape()[3],
                 "pack_conv_transpose2d: weight is " + weight.shape().to_string() + ", want [I, O, k, k]");
  check_weight("pack_conv_transpose2d", weight, 4, bias, weight.shape()[1]);
  std::unique_ptr<PackedConvTranspose2d> packed = do_pack_conv_transpose2d(weight, bias);
  packed->in_channels = weight.shape()[0];
  packed->out_channels = weight.shape()[1];
  packed->stride = weight.shape()[2];
  return packed;
}

Tensor Ops::upload_weight(TensorView host) {
  POINTMAP_CHECK(is_float_weight(host.dtype()) && host.is_contiguous(),
                 "upload_weight: got " + std::string(dtype_name(host.dtype())) + ", want contiguous F32, F16 or BF16");
  Tensor weight(context_.weights, DType::kF32, host.shape());
  if (host.dtype() == DType::kF32) {
    do_copy(host.raw(), weight.raw(), weight.num_bytes());
    return weight;
  }
  Tensor widened(context_.activations, DType::kF32, host.shape());
  const auto* bits = static_cast<const uint16_t*>(host.raw());
  for (int64_t i = 0; i < host.shape().num_elements(); ++i) {
    widened.data<float>()[i] = host.dtype() == DType::kF16 ? float_from_f16(bits[i]) : float_from_bf16(bits[i]);
  }
  do_copy(widened.raw(), weight.raw(), weight.num_bytes());
  return weight;
}

Tensor Ops::upload(TensorView host) {
  check_f32("upload", host);
  Tensor y = activation_tensor(host.shape());
  do_copy(host.raw(), y.raw(), y.num_bytes());
  return y;
}

Tensor Ops::download(Tensor device) {
  return device;
}

Tensor Ops::linear(TensorView x, const PackedLinear& w, const LinearOptions& options) {
  check_f32("linear", x, true);
  POINTMAP_CHECK(x.shape().rank() >= 1 && x.shape()[-1] == w.in_features,
                 "linear: input is " + x.shape().to_string() + ", weights take " + std::to_string(w.in_features) + " features");
  Tensor y = activation_tensor(x.shape().with_last(w.out_features));
  check_residual("linear", options.residual, y.shape());
  const double flops = 2.0 * static_cast<double>(x.shape().num_elements()) * static_cast<double>(w.out_features);
  timed(OpKind::kLinear, flops, [&] { do_linear(x, w, options, {y}); });
  return y;
}

void Ops::add_linear(TensorView x, const PackedLinear& w, Tensor& y, int64_t first_row) {
  check_f32("add_linear", x, true);
  check_f32("add_linear", y);
  const bool fits = x.shape().rank() >= 1 && x.shape()[-1] == w.in_features && y.shape().rank() >= 1 && y.shape()[-1] == w.out_features &&
                    first_row >= 0 && first_row + x.num_rows() <= y.view().num_rows();
  POINTMAP_CHECK(fits, "add_linear: input " + x.shape().to_string() + " and weights [" + std::to_string(w.out_features) + ", " +
                           std::to_string(w.in_features) + "] do not fit rows of " + y.shape().to_string() + " from " +
                           std::to_string(first_row) + " on");
  const double flops = 2.0 * static_cast<double>(x.shape().num_elements()) * static_cast<double>(w.out_features);
  const TensorView rows = y.view().reshape({y.view().num_rows(), w.out_features}).slice_first(first_row, first_row + x.num_rows());
  timed(OpKind::kLinear, flops, [&] { do_linear(x, w, {.residual = rows}, {y, first_row}); });
}

Tensor Ops::conv2d(TensorView x, const PackedConv2d& w, const ConvOptions& options) {
  check_map("conv2d", x, w.in_channels);
  const auto out_size = [&](int64_t size, int64_t kernel) {
    const int64_t padded = size + 2 * w.geometry.padding;
    POINTMAP_CHECK(padded >= kernel, "conv2d: input " + x.shape().to_string() + " is smaller than the kernel");
    return (padded - kernel) / w.geometry.stride + 1;
  };
  Tensor y =
      activation_tensor({x.shape()[0], out_size(x.shape()[1], w.kernel_height), out_size(x.shape()[2], w.kernel_width), w.out_channels});
  check_residual("conv2d", options.residual, y.shape());
  const double flops =
      2.0 * static_cast<double>(y.shape().num_elements()) * static_cast<double>(w.in_channels * w.kernel_height * w.kernel_width);
  timed(OpKind::kConv, flops, [&] { do_conv2d(x, w, options, y); });
  return y;
}

Tensor Ops::conv_transpose2d(TensorView x, const PackedConvTranspose2d& w) {
  check_map("conv_transpose2d", x, w.in_channels);
  Tensor y = activation_tensor({x.shape()[0], x.shape()[1] * w.stride, x.shape()[2] * w.stride, w.out_channels});
  const double flops = 2.0 * static_cast<double>(y.shape().num_elements()) * static_cast<double>(w.in_channels);
  timed(OpKind::kConv, flops, [&] { do_conv_transpose2d(x, w, y); });
  return y;
}

Tensor Ops::attention(TensorView q, TensorView k, TensorView v, int64_t num_heads, float scale) {
  for (const TensorView& x : {q, k, v}) check_f32("attention", x, true);
  const bool fits = q.shape().rank() == 3 && k.shape().rank() == 3 && k.shape() == v.shape() && q.shape()[0] == k.shape()[0] &&
                    q.shape()[2] == k.shape()[2] && num_heads >= 1 && q.shape()[2] % num_heads == 0 && k.shape()[1] >= 1;
  POINTMAP_CHECK(fits, "attention: q " + q.shape().to_string() + ", k " + k.shape().to_string() + ", v " + v.shape().to_string() +
                           " do not fit with " + std::to_string(num_heads) + " heads");
  const AttentionShape shape{q.shape()[0], q.shape()[1], k.shape()[1], num_heads, q.shape()[2] / num_heads, scale};
  Tensor y = activation_tensor(q.shape());
  const double flops = 4.0 * static_cast<double>(q.shape().num_elements()) * static_cast<double>(shape.num_keys);
  timed(OpKind::kAttention, flops, [&] { do_attention(q, k, v, shape, y); });
  return y;
}

void Ops::rope2d(Tensor& x, const RopeTable& table, int64_t channel_begin, int64_t num_heads) {
  check_f32("rope2d", x);
  const int64_t head_dim = 2 * table.cos.shape()[-1];
  const bool fits = x.shape().rank() == 3 && table.cos.shape() == table.sin.shape() && table.cos.shape().rank() == 2 &&
                    table.cos.shape()[0] >= 1 && x.shape()[1] % table.cos.shape()[0] == 0 && head_dim % 4 == 0 && channel_begin >= 0 &&
                    channel_begin + num_heads * head_dim <= x.shape()[2];
  POINTMAP_CHECK(fits, "rope2d: x " + x.shape().to_string() + " does not fit a table of " + table.cos.shape().to_string() + " and " +
                           std::to_string(num_heads) + " heads from channel " + std::to_string(channel_begin));
  timed(OpKind::kOther, 0, [&] { do_rope2d(x, table, channel_begin, num_heads); });
}

Tensor Ops::layer_norm(TensorView x, TensorView gamma, TensorView beta, float eps) {
  check_f32("layer_norm", x, true);
  const Shape channels{x.shape()[-1]};
  POINTMAP_CHECK(gamma.shape() == channels && beta.shape() == channels,
                 "layer_norm: x " + x.shape().to_string() + ", gamma " + gamma.shape().to_string() + ", beta " + beta.shape().to_string());
  Tensor y = activation_tensor(x.shape());
  timed(OpKind::kOther, 0, [&] { do_layer_norm(x, gamma, beta, eps, y); });
  return y;
}

void Ops::layer_norm_heads(Tensor& x, const NormParameters& norm, int64_t channel_begin, int64_t num_heads) {
  check_f32("layer_norm_heads", x);
  const bool fits = x.shape().rank() == 3 && norm.gamma.shape().rank() == 1 && norm.beta.shape() == norm.gamma.shape() &&
                    channel_begin >= 0 && num_heads >= 0 && channel_begin + num_heads * norm.gamma.shape()[0] <= x.shape()[2];
  POINTMAP_CHECK(fits, "layer_norm_heads: x " + x.shape().to_string() + " does not fit gamma " + norm.gamma.shape().to_string() +
                           ", beta " + norm.beta.shape().to_string() + " and " + std::to_string(num_heads) + " heads from channel " +
                           std::to_string(channel_begin));
  timed(OpKind::kOther, 0, [&] { do_layer_norm_heads(x, norm, channel_begin, num_heads); });
}

Tensor Ops::add(TensorView a, TensorView b) {
  check_f32("add", a);
  check_f32("add", b);
  POINTMAP_CHECK(a.shape() == b.shape(), "add: " + a.shape().to_string() + " and " + b.shape().to_string());
  Tensor y = activation_tensor(a.shape());
  timed(OpKind::kOther, 0, [&] { do_add(a, b, y); });
  return y;
}

Tensor Ops::multiply_add(TensorView a, TensorView b, TensorView c) {
  check_f32("multiply_add", a, true);
  for (const TensorView& x : {b, c}) {
    check_f32("multiply_add", x, true);
    POINTMAP_CHECK(x.shape() == a.shape() || x.shape() == Shape{a.shape()[-1]},
                   "multiply_add: " + x.shape().to_string() + " with " + a.shape().to_string());
  }
  Tensor y = activation_tensor(a.shape());
  timed(OpKind::kOther, 0, [&] { do_multiply_add(a, b, c, y); });
  return y;
}

Tensor Ops::at_least(TensorView x, TensorView floor) {
  check_f32("at_least", x, true);
  check_f32("at_least", floor);
  POINTMAP_CHECK(floor.shape() == Shape{x.shape()[-1]}, "at_least: " + floor.shape().to_string() + " with " + x.shape().to_string());
  Tensor y = activation_tensor(x.shape());
  timed(OpKind::kOther, 0, [&] { do_at_least(x, floor, y); });
  return y;
}

Tensor Ops::concat_first(const std::vector<TensorView>& parts) {
  POINTMAP_CHECK(!parts.empty() && parts[0].shape().rank() >= 1, "concat_first: nothing to put together");
  int64_t total = 0;
  for (const TensorView& part : parts) {
    check_f32("concat_first", part);
    POINTMAP_CHECK(part.shape().rank() >= 1 && part.shape() == parts[0].shape().with_first(part.shape()[0]),
                   "concat_first: " + parts[0].shape().to_string() + " and " + part.shape().to_string());
    total += part.shape()[0];
  }
  Tensor y = activation_tensor(parts[0].shape().with_first(total));
  timed(OpKind::kOther, 0, [&] {
    size_t offset = 0;
    for (const TensorView& part : parts) {
      do_copy(part.raw(), static_cast<std::byte*>(y.raw()) + offset, part.num_bytes());
      offset += part.num_bytes();
    }
  });
  return y;
}

Tensor Ops::concat_last(TensorView a, TensorView b) {
  check_f32("concat_last", a, true);
  check_f32("concat_last", b, true);
  POINTMAP_CHECK(a.shape().rank() >= 1 && b.shape().rank() >= 1 && a.shape() == b.shape().with_last(a.shape()[-1]),
                 "concat_last: " + a.shape().to_string() + " and " + b.shape().to_string());
  Tensor y = activation_tensor(a.shape().with_last(a.shape()[-1] + b.shape()[-1]));
  timed(OpKind::kOther, 0, [&] { do_concat_last(a, b, y); });
  return y;
}

void Ops::add_columns_and_rows(Tensor& x, TensorView by_column, TensorView by_row) {
  check_map("add_columns_and_rows", x, -1);
  check_f32("add_columns_and_rows", by_column);
  check_f32("add_columns_and_rows", by_row);
  const Shape& s = x.shape();
  POINTMAP_CHECK(s[3] % 2 == 0 && by_column.shape() == (Shape{s[2], s[3] / 2}) && by_row.shape() == (Shape{s[1], s[3] / 2}),
                 "add_columns_and_rows: x " + s.to_string() + " with " + by_column.shape().to_string() + " by column and " +
                     by_row.shape().to_string() + " by row");
  timed(OpKind::kOther, 0, [&] { do_add_columns_and_rows(x, by_column, by_row); });
}

Tensor Ops::upsample_bilinear(TensorView x, int64_t height, int64_t width, UpsampleMode mode) {
  check_map("upsample_bilinear", x, -1);
  POINTMAP_CHECK(height >= 1 && width >= 1 && x.shape().num_elements() > 0, "upsample_bilinear: empty input or output");
  Tensor y = activation_tensor({x.shape()[0], height, width, x.shape()[3]});
  timed(OpKind::kOther, 0, [&] { do_upsample_bilinear(x, mode, y); });
  return y;
}

Tensor Ops::crop(TensorView x, int64_t height, int64_t width) {
  check_map("crop", x, -1);
  POINTMAP_CHECK(height <= x.shape()[1] && width <= x.shape()[2],
                 "crop: " + x.shape().to_string() + " has no part of " + std::to_string(height) + " x " + std::to_string(width));
  Tensor y = activation_tensor({x.shape()[0], height, width, x.shape()[3]});
  timed(OpKind::kOther, 0, [&] { do_crop(x, y); });
  return y;
}

Tensor Ops::pixel_shuffle(TensorView x, int64_t factor) {
  check_map("pixel_shuffle", x, -1);
  POINTMAP_CHECK(factor >= 1 && x.shape()[3] % (factor * factor) == 0,
                 "pixel_shuffle: " + x.shape().to_string() + " does not divide by " + std::to_string(factor) + " squared");
  Tensor y = activation_tensor({x.shape()[0], x.shape()[1] * factor, x.shape()[2] * factor, x.shape()[3] / (factor * factor)});
  timed(OpKind::kOther, 0, [&] { do_pixel_shuffle(x, factor, y); });
  return y;
}

Pointmap Ops::activate_pointmap_exp(TensorView raw) {
  check_map("activate_pointmap_exp", raw, 4);
  const Shape& s = raw.shape();
  Pointmap out{.points = activation_tensor({s[0], s[1], s[2], 3}), .confidence = activation_tensor({s[0], s[1], s[2]})};
  timed(OpKind::kOther, 0, [&] { do_activate_pointmap_exp(raw, out); });
  return out;
}

Pointmap Ops::activate_pointmap_inv_log(TensorView raw) {
  check_map("activate_pointmap_inv_log", raw, 4);
  const Shape& s = raw.shape();
  Pointmap out{.points = activation_tensor({s[0], s[1], s[2], 3}), .confidence = activation_tensor({s[0], s[1], s[2]})};
  timed(OpKind::kOther, 0, [&] { do_activate_pointmap_inv_log(raw, out); });
  return out;
}

Depthmap Ops::activate_depth_exp(TensorView raw) {
  check_map("activate_depth_exp", raw, 2);
  const Shape& s = raw.shape();
  Depthmap out{.depth = activation_tensor({s[0], s[1], s[2], 1}), .confidence = activation_tensor({s[0], s[1], s[2]})};
  timed(OpKind::kOther, 0, [&] { do_activate_depth_exp(raw, out); });
  return out;
}

}  // namespace pointmap
