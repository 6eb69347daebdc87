// The pre-norm transformer block of every ViT here ("An Image is Worth 16x16 Words", section 3.1).
#pragma once

#include "nn/attention.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"

namespace pointmap {

struct TransformerBlockConfig {
  int64_t dim = 0;
  int64_t num_heads = 0;
  int64_t mlp_ratio = 4;
  float norm_eps = 0;
  bool qk_norm = false;      // over the heads of q and k, with norm_eps
  bool layer_scale = false;  // ls1, ls2: every channel of what a branch adds is multiplied by a learnt number
};

class TransformerBlock {
 public:
  TransformerBlock(const WeightScope& w, const TransformerBlockConfig& config);
  // x [B, N, C] -> x + attn(norm1(x)), then + mlp(norm2(.)), [B, N, C]. rope: null for none.
  Tensor forward(Ops& ops, TensorView x, const RopeTable* rope) const;

 private:
  LayerNorm norm1;
  SelfAttention attn;
  LayerNorm norm2;
  Mlp mlp;
};

}  // namespace pointmap
