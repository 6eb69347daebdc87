#include "nn/attention.h"

#include <cmath>

namespace pointmap {
namespace {

float logit_scale(int64_t dim, int64_t num_heads) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(dim) / static_cast<double>(num_heads)));
}

}  // namespace

SelfAttention::SelfAttention(const WeightScope& w, const SelfAttentionConfig& config, const WeightScope* layer_scale)
    : config_(config), qkv(w["qkv"], config.dim, 3 * config.dim), proj(w["proj"], config.dim, config.dim, layer_scale) {
  if (!config.qk_norm_eps) return;
  const int64_t head_dim = config.dim / config.num_heads;
  q_norm.emplace(w["q_norm"], head_dim, *config.qk_norm_eps);
  k_norm.emplace(w["k_norm"], head_dim, *config.qk_norm_eps);
}

Tensor SelfAttention::forward(Ops& ops, TensorView x, const RopeTable* rope, TensorView residual) const {
  const auto [dim, num_heads, _] = config_;
  Tensor packed = qkv.forward(ops, x);  // [B, N, 3C], slowest to fastest: q k v, head, channel in head
  if (q_norm) q_norm->forward_heads(ops, packed, 0, num_heads);
  if (k_norm) k_norm->forward_heads(ops, packed, dim, num_heads);
  if (rope != nullptr) {
    ops.rope2d(packed, *rope, 0, num_heads);
    ops.rope2d(packed, *rope, dim, num_heads);
  }
  const TensorView q = packed.view().slice_last(0, dim);
  const TensorView k = packed.view().slice_last(dim, 2 * dim);
  const TensorView v = packed.view().slice_last(2 * dim, 3 * dim);
  const Tensor context = ops.attention(q, k, v, num_heads, logit_scale(dim, num_heads));  // [B, N, C]
  return proj.forward(ops, context, {.residual = residual});
}

CrossAttention::CrossAttention(const WeightScope& w, int64_t dim, int64_t num_heads)
    : dim_(dim),
      num_heads_(num_heads),
      projq(w["projq"], dim, dim),
      projk(w["projk"], dim, dim),
      projv(w["projv"], dim, dim),
      proj(w["proj"], dim, dim) {}

Tensor CrossAttention::forward(Ops& ops, TensorView x, const RopeTable& x_rope, TensorView y, const RopeTable& y_rope,
                               TensorView residual) const {
  Tensor q = projq.forward(ops, x);  // [B, N, C]
  Tensor k = projk.forward(ops, y);  // [B, M, C]
  const Tensor v = projv.forward(ops, y);
  ops.rope2d(q, x_rope, 0, num_heads_);
  ops.rope2d(k, y_rope, 0, num_heads_);
  const Tensor context = ops.attention(q, k, v, num_heads_, logit_scale(dim_, num_heads_));
  return proj.forward(ops, context, {.residual = residual});
}

}  // namespace pointmap
