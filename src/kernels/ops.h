// The vocabulary models are written in. A model sees Ops and never a device: the caller chose where this runs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "tensor/tensor.h"

namespace pointmap {

enum class Activation {
  kNone,
  kRelu,
  kGelu,  // in its exact erf form: x/2 (1 + erf(x/sqrt 2))
  kSilu,  // x / (1 + exp(-x))
};

enum class UpsampleMode {
  kAlignCorners,  // source = o (n-1)/(m-1): corner pixels stay on corners
  kHalfPixel,     // source = (o + 1/2) n/m - 1/2, clamped at the border
};

struct ConvGeometry {
  int64_t stride = 1;
  int64_t padding = 0;  // zeros, the same on all four sides
};

// Weights in the layout that a device wants, made by Ops::pack_*; models only hold them.
struct PackedLinear {
  virtual ~PackedLinear() = default;
  int64_t in_features = 0;
  int64_t out_features = 0;
};
struct PackedConv2d {
  virtual ~PackedConv2d() = default;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t kernel_height = 0;
  int64_t kernel_width = 0;
  ConvGeometry geometry;
};
struct PackedConvTranspose2d {  // kernel = stride, so outputs do not overlap
  virtual ~PackedConvTranspose2d() = default;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t stride = 0;
};

// What happens to a product before it is written: y = activation(x W^T + bias) + residual.
struct LinearOptions {
  Activation activation = Activation::kNone;
  TensorView residual = {};  // of the output's shape, contiguous; empty for none
};
struct ConvOptions {
  bool relu_input = false;  // convolve max(x, 0); x itself is not changed
  Activation activation = Activation::kNone;
  TensorView residual = {};    // of the output's shape, contiguous; empty for none
  bool relu_residual = false;  // add max(residual, 0); the residual itself is not changed
};

// (x - mean) / sqrt(var + eps) gamma + beta with the biased variance; gamma and beta [C].
struct NormParameters {
  TensorView gamma;
  TensorView beta;
  float eps = 0;
};

// cos and sin of every token's rotary angles, [N, D/2] for head size D: the first D/4 belong to the row, the others to the column.
struct RopeTable {
  Tensor cos;
  Tensor sin;
};

struct Pointmap {
  Tensor points;      // [B, H, W, 3]
  Tensor confidence;  // [B, H, W]
};

struct Depthmap {
  Tensor depth;       // [B, H, W, 1]
  Tensor confidence;  // [B, H, W]
};

enum class OpKind { kLinear, kAttention, kConv, kOther };
inline constexpr size_t kNumOpKinds = 4;

struct OpStats {
  int64_t calls = 0;
  double ms = 0;
  double flops = 0;  // of the products only: 2 per multiply and add
};

// Where an Ops computes and where its memory comes from; all outlive it. Weights and activations have an arena each, so that a
// report can tell them apart.
struct OpsContext {
  ThreadPool& pool;
  Arena& weights;
  Arena& activations;
};

// Activations are float32, channels last, contiguous unless a parameter says "rows": such a view may have a row stride.
// Every op throws Error{kInvalidArgument} that names the op and the shapes when they do not fit, and gives the same bits for
// any number of threads.
class Ops {
 public:
  explicit Ops(const OpsContext& context) : context_(context) {}
  virtual ~Ops() = default;
  Ops(const Ops&) = delete;
  Ops& operator=(const Ops&) = delete;

  // Weights. Sources may be F32, F16, BF16 (any view in host memory); bias may be empty.
  // scale [N]: outputs are multiplied by it (LayerScale, folded into weight and bias); empty for none.
  std::unique_ptr<PackedLinear> pack_linear(TensorView weight, TensorView bias, TensorView scale = {});  // [N, K], [N], [N]
  std::unique_ptr<PackedConv2d> pack_conv2d(TensorView weight, TensorView bias, ConvGeometry geometry);  // [O, I, kh, kw], [O]
  std::unique_ptr<PackedConvTranspose2d> pack_conv_transpose2d(TensorView weight, TensorView bias);      // [I, O, k, k], [O]
  Tensor upload_weight(TensorView host);  // widened to F32, from the weights arena
  Tensor upload(TensorView host);         // F32 to F32, from the activations arena
  Tensor download(Tensor device);         // in host memory

  // y = activation(x W^T + b) + residual. x rows [..., K] -> [..., N].
  Tensor linear(TensorView x, const PackedLinear& w, const LinearOptions& options = {});
  // In place: rows [first_row, first_row + rows of x) of y += x W^T + b. x rows [..., K], y [..., N], apart from x. What is wide
  // between two linear layers need not exist for all rows at once.
  void add_linear(TensorView x, const PackedLinear& w, Tensor& y, int64_t first_row);
  // x [B, H, W, I] -> [B, (H + 2p - kh)/s + 1, (W + 2p - kw)/s + 1, O]. Cross-correlation, as networks mean it.
  Tensor conv2d(TensorView x, const PackedConv2d& w, const ConvOptions& options = {});
  // x [B, H, W, I] -> [B, H s, W s, O].
  Tensor conv_transpose2d(TensorView x, const PackedConvTranspose2d& w);

  // softmax(scale Q K^T) V per head. q rows [B, Nq, heads D], k and v rows [B, Nk, heads D] -> [B, Nq, heads D].
  Tensor attention(TensorView q, TensorView k, TensorView v, int64_t num_heads, float scale);
  // Rotates channels [channel_begin, channel_begin + num_heads D) of x [B, N, C] in place. In each half h of a head's D channels
  // (0: row, 1: column) channel k pairs with k + D/4: (u, v) -> (u cos - v sin, v cos + u sin) with angle h D/4 + k. N is a multiple
  // of the table's tokens, which repeat.
  void rope2d(Tensor& x, const RopeTable& table, int64_t channel_begin, int64_t num_heads);
  // (x - mean) / sqrt(var + eps) gamma + beta over the last dimension, biased variance. x rows [..., C], gamma and beta [C].
  Tensor layer_norm(TensorView x, TensorView gamma, TensorView beta, float eps);
  // The same over every head of its own, in place: channels [channel_begin, channel_begin + num_heads D) of x [B, N, C], gamma and
  // beta [D].
  void layer_norm_heads(Tensor& x, const NormParameters& norm, int64_t channel_begin, int64_t num_heads);

  Tensor add(TensorView a, TensorView b);  // of one shape
  // a b + c, element by element. a rows [..., C], b and c of its shape, or [C]: the same for every row.
  Tensor multiply_add(TensorView a, TensorView b, TensorView c);
  Tensor at_least(TensorView x, TensorView floor);            // max(x, floor), NaN stays. x rows [..., C], floor [C]
  Tensor concat_first(const std::vector<TensorView>& parts);  // [A, ...], [B, ...], ... -> [A + B + ..., ...]
  Tensor concat_last(TensorView a, TensorView b);             // rows [..., A], [..., B] -> [..., A + B]
  // In place: x[b, y, x, :] += (by_column[x, :], by_row[y, :]). x [B, H, W, C], by_column [W, C/2], by_row [H, C/2].
  void add_columns_and_rows(Tensor& x, TensorView by_column, TensorView by_row);
  // x [B, H, W, C] -> [B, height, width, C].
  Tensor upsample_bilinear(TensorView x, int64_t height, int64_t width, UpsampleMode mode);
  // The top-left part. x [B, H, W, C] -> [B, height, width, C].
  Tensor crop(TensorView x, int64_t height, int64_t width);
  // x [B, h, w, C r^2] -> [B, h r, w r, C]; channel c of pixel (y r + i, x r + j) is feature c r^2 + i r + j.
  Tensor pixel_shuffle(TensorView x, int64_t factor);
  // raw [B, H, W, 4]: xyz = r/max(|r|, 1e-8) expm1(|r|), confidence = 1 + exp(c).
  Pointmap activate_pointmap_exp(TensorView raw);
  // raw [B, H, W, 4]: each of xyz becomes sign(v) expm1(|v|), confidence = 1 + exp(c).
  Pointmap activate_pointmap_inv_log(TensorView raw);
  // raw [B, H, W, 2]: depth = exp(z), confidence = 1 + exp(c).
  Depthmap activate_depth_exp(TensorView raw);

  // Golden tests and debuggers listen here; free when nobody does. The name is put together from its parts (text and integers) only
  // for a listener: probe(x, "enc_block_", i).
  using Probe = std::function<void(std::string_view name, TensorView value)>;
  void set_probe(Probe probe) { probe_ = std::move(probe); }
  template <typename... Parts>
  void probe(TensorView value, const Parts&... name_parts) const {
    if (!probe_) return;
    std::ostringstream name;
    (name << ... << name_parts);
    probe_(name.str(), value);
  }

  const OpStats& stats(OpKind kind) const { return stats_[static_cast<size_t>(kind)]; }
  void reset_stats() { stats_ = {}; }
  const OpsContext& context() const { return context_; }
  virtual std::string_view name() const = 0;  // for reports: "cpu AVX3", "reference"

 protected:
  // Arguments have been checked. Outputs are allocated by the caller and handed in, residuals are in the options.
  virtual std::unique_ptr<PackedLinear> do_pack_linear(TensorView weight, TensorView bias, TensorView scale) = 0;
  virtual std::unique_ptr<PackedConv2d> do_pack_conv2d(TensorView weight, TensorView bias, ConvGeometry geometry) = 0;
  virtual std::unique_ptr<PackedConvTranspose2d> do_pack_conv_transpose2d(TensorView weight, TensorView bias) = 0;
  // The rows of y from `first` on. A residual may be these rows themselves.
  struct OutputRows {
    Tensor& y;
    int64_t first = 0;
  };
  virtual void do_linear(TensorView x, const PackedLinear& w, const LinearOptions& options, OutputRows rows) = 0;
  virtual void do_conv2d(TensorView x, const PackedConv2d& w, const ConvOptions& options, Tensor& y) = 0;
  virtual void do_conv_transpose2d(TensorView x, const PackedConvTranspose2d& w, Tensor& y) = 0;
  struct AttentionShape {
    int64_t batch, num_queries, num_keys, num_heads, head_dim;
    float scale;
  };
  virtual void do_attention(TensorView q, TensorView k, TensorView v, const AttentionShape& shape, Tensor& y) = 0;
  virtual void do_rope2d(Tensor& x, const RopeTable& table, int64_t channel_begin, int64_t num_heads) = 0;
  virtual void do_layer_norm(TensorView x, TensorView gamma, TensorView beta, float eps, Tensor& y) = 0;
  virtual void do_layer_norm_heads(Tensor& x, const NormParameters& norm, int64_t channel_begin, int64_t num_heads) = 0;
  virtual void do_add(TensorView a, TensorView b, Tensor& y) = 0;
  virtual void do_multiply_add(TensorView a, TensorView b, TensorView c, Tensor& y) = 0;
  virtual void do_at_least(TensorView x, TensorView floor, Tensor& y) = 0;
  virtual void do_concat_last(TensorView a, TensorView b, Tensor& y) = 0;
  virtual void do_add_columns_and_rows(Tensor& x, TensorView by_column, TensorView by_row) = 0;
  virtual void do_upsample_bilinear(TensorView x, UpsampleMode mode, Tensor& y) = 0;
  virtual void do_crop(TensorView x, Tensor& y) = 0;
  virtual void do_pixel_shuffle(TensorView x, int64_t factor, Tensor& y) = 0;
  virtual void do_activate_pointmap_exp(TensorView raw, Pointmap& out) = 0;
  virtual void do_activate_pointmap_inv_log(TensorView raw, Pointmap& out) = 0;
  virtual void do_activate_depth_exp(TensorView raw, Depthmap& out) = 0;
  virtual void do_copy(const void* from, void* to, size_t bytes) = 0;  // between host and device or within the device

 private:
  template <typename Fn>
  void timed(OpKind kind, double flops, const Fn& fn);
  Tensor activation_tensor(const Shape& shape) { return Tensor(context_.activations, DType::kF32, shape); }

  OpsContext context_;
  Probe probe_;
  std::array<OpStats, kNumOpKinds> stats_{};
};

}  // namespace pointmap
