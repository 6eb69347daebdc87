// Multi-head attention with rotary positions: of a sequence with itself, and of one sequence with another.
#pragma once

#include "kernels/ops.h"
#include "nn/linear.h"
#include "nn/weight_map.h"

namespace pointmap {

// Attention Is All You Need, section 3.2, with Q, K and V from one packed product.
class SelfAttention {
 public:
  SelfAttention(const WeightScope& w, int64_t dim, int64_t num_heads);
  // x [B, N, C] -> residual + attention(x); the sum happens as proj writes.
  Tensor forward(Ops& ops, TensorView x, const RopeTable& rope, TensorView residual) const;

 private:
  int64_t dim_;
  int64_t num_heads_;
  Linear qkv;
  Linear proj;
};

// Queries from x, keys and values from y.
class CrossAttention {
 public:
  CrossAttention(const WeightScope& w, int64_t dim, int64_t num_heads);
  // x [B, N, C], y [B, M, C] -> residual + attention(x; y), [B, N, C]
  Tensor forward(Ops& ops, TensorView x, const RopeTable& x_rope, TensorView y, const RopeTable& y_rope, TensorView residual) const;

 private:
  int64_t dim_;
  int64_t num_heads_;
  Linear projq;
  Linear projk;
  Linear projv;
  Linear proj;
};

}  // namespace pointmap
