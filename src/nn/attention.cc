#include "nn/attention.h"

#include <cmath>

namespace pointmap {
namespace {

float logit_scale(int64_t dim, int64_t num_heads) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(dim) / static_cast<double>(num_heads)));
}

}  // namespace

SelfAttention::SelfAttention(const WeightScope& w, int64_t dim, int64_t num_heads)
    : dim_(dim), num_heads_(num_heads), qkv(w["qkv"], dim, 3 * dim), proj(w["proj"], dim, dim) {}

Tensor SelfAttention::forward(Ops& ops, TensorView x, const RopeTable& rope, TensorView residual) const {
  Tensor packed = qkv.forward(ops, x);  // [B, N, 3C], slowest to fastest: q k v, head, channel in head
  ops.rope2d(packed, rope, 0, num_heads_);
  ops.rope2d(packed, rope, dim_, num_heads_);
  const TensorView q = packed.view().slice_last(0, dim_);
  const TensorView k = packed.view().slice_last(dim_, 2 * dim_);
  const TensorView v = packed.view().slice_last(2 * dim_, 3 * dim_);
  const Tensor context = ops.attention(q, k, v, num_heads_, logit_scale(dim_, num_heads_));  // [B, N, C]
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
