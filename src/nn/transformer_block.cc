#include "nn/transformer_block.h"

namespace pointmap {
namespace {

SelfAttention make_attention(const WeightScope& w, const TransformerBlockConfig& config) {
  const SelfAttentionConfig attention{
      .dim = config.dim, .num_heads = config.num_heads, .qk_norm_eps = config.qk_norm ? std::optional(config.norm_eps) : std::nullopt};
  const WeightScope ls1 = w["ls1"];
  return SelfAttention(w["attn"], attention, config.layer_scale ? &ls1 : nullptr);
}

Mlp make_mlp(const WeightScope& w, const TransformerBlockConfig& config) {
  const WeightScope ls2 = w["ls2"];
  return Mlp(w["mlp"], config.dim, config.mlp_ratio, config.layer_scale ? &ls2 : nullptr);
}

}  // namespace

TransformerBlock::TransformerBlock(const WeightScope& w, const TransformerBlockConfig& config)
    : norm1(w["norm1"], config.dim, config.norm_eps),
      attn(make_attention(w, config)),
      norm2(w["norm2"], config.dim, config.norm_eps),
      mlp(make_mlp(w, config)) {}

Tensor TransformerBlock::forward(Ops& ops, TensorView x, const RopeTable* rope) const {
  Tensor y = attn.forward(ops, norm1.forward(ops, x), rope, x);
  mlp.add_to(ops, norm2.forward(ops, y), y);
  return y;
}

}  // namespace pointmap
