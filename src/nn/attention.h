// Multi-head attention, with rotary positions if wanted: of a sequence with itself, and of one sequence with another.
#pragma once

#include <optional>

#include "kernels/ops.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/weight_map.h"

namespace pointmap {

struct SelfAttentionConfig {
  int64_t dim = 0;
  int64_t num_heads = 0;
  std::optional<float> qk_norm_eps = {};  // a layer norm over each head of q and k, before the rotation; empty for none
};

// Attention Is All You Need, section 3.2, with Q, K and V from one packed product.
class SelfAttention {
 public:
  // layer_scale: the scope of a LayerScale on the output, null for none.
  SelfAttention(const WeightScope& w, const SelfAttentionConfig& config, const WeightScope* layer_scale = nullptr);
  // x [B, N, C] -> residual + attention(x); the sum happens as proj writes. rope: null for none.
  Tensor forward(Ops& ops, TensorView x, const RopeTable* rope, TensorView residual) const;

 private:
  SelfAttentionConfig config_;
  Linear qkv;
  std::optional<LayerNorm> q_norm;
  std::optional<LayerNorm> k_norm;
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
