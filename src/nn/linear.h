// y = x W^T + b, and the two-layer perceptron of a transformer block.
#pragma once

#include <memory>

#include "kernels/ops.h"
#include "nn/weight_map.h"

namespace pointmap {

class Linear {
 public:
  // layer_scale: the scope of a LayerScale that follows, null for none.
  Linear(const WeightScope& w, int64_t in_features, int64_t out_features, const WeightScope* layer_scale = nullptr)
      : weight_(w.linear(in_features, out_features, layer_scale)) {}
  // x rows [..., in] -> [..., out]
  Tensor forward(Ops& ops, TensorView x, const LinearOptions& options = {}) const { return ops.linear(x, *weight_, options); }
  // In place: rows [first_row, first_row + rows of x) of y += what forward gives.
  void add_to(Ops& ops, TensorView x, Tensor& y, int64_t first_row) const { ops.add_linear(x, *weight_, y, first_row); }

 private:
  std::unique_ptr<PackedLinear> weight_;
};

// fc2(gelu(fc1(x))), hidden width = ratio * dim.
class Mlp {
 public:
  Mlp(const WeightScope& w, int64_t dim, int64_t ratio, const WeightScope* layer_scale = nullptr)
      : fc1(w["fc1"], dim, dim * ratio), fc2(w["fc2"], dim * ratio, dim, layer_scale) {}
  // In place: y += mlp(x), both [B, N, C] and apart. The hidden layer exists for kMaxRows tokens at a time, so that its memory does not
  // grow with their number.
  void add_to(Ops& ops, TensorView x, Tensor& y) const;

  static constexpr int64_t kMaxRows = 2048;

 private:
  Linear fc1;
  Linear fc2;
};

}  // namespace pointmap
