// y = x W^T + b, and the two-layer perceptron of a transformer block.
#pragma once

#include <memory>

#include "kernels/ops.h"
#include "nn/weight_map.h"

namespace pointmap {

class Linear {
 public:
  Linear(const WeightScope& w, int64_t in_features, int64_t out_features) : weight_(w.linear(in_features, out_features)) {}
  // x rows [..., in] -> [..., out]
  Tensor forward(Ops& ops, TensorView x, const LinearOptions& options = {}) const { return ops.linear(x, *weight_, options); }

 private:
  std::unique_ptr<PackedLinear> weight_;
};

// fc2(gelu(fc1(x))), hidden width = ratio * dim.
class Mlp {
 public:
  Mlp(const WeightScope& w, int64_t dim, int64_t ratio) : fc1(w["fc1"], dim, dim * ratio), fc2(w["fc2"], dim * ratio, dim) {}
  // x [B, N, C] -> residual + mlp(x); the sum happens as fc2 writes.
  Tensor forward(Ops& ops, TensorView x, TensorView residual) const {
    const Tensor hidden = fc1.forward(ops, x, {.activation = Activation::kGelu});  // [B, N, ratio C]
    return fc2.forward(ops, hidden, {.residual = residual});
  }

 private:
  Linear fc1;
  Linear fc2;
};

}  // namespace pointmap
