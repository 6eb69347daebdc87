// (x - mean) / sqrt(var + eps) * weight + bias over the channels.
#pragma once

#include "kernels/ops.h"
#include "nn/weight_map.h"

namespace pointmap {

class LayerNorm {
 public:
  LayerNorm(const WeightScope& w, int64_t dim, float eps) : weight(w.tensor("weight", {dim})), bias(w.tensor("bias", {dim})), eps_(eps) {}
  // x rows [..., C] -> [..., C]
  Tensor forward(Ops& ops, TensorView x) const { return ops.layer_norm(x, weight, bias, eps_); }
  // In place, every head of its own: num_heads times C channels of x [B, N, ...] from channel_begin on.
  void forward_heads(Ops& ops, Tensor& x, int64_t channel_begin, int64_t num_heads) const {
    ops.layer_norm_heads(x, {.gamma = weight, .beta = bias, .eps = eps_}, channel_begin, num_heads);
  }

 private:
  Tensor weight;
  Tensor bias;
  float eps_;
};

}  // namespace pointmap
