#include "models/dust3r/decoder.h"

#include <algorithm>
#include <utility>

namespace pointmap {

DecoderBlock::DecoderBlock(const WeightScope& w, const Dust3rConfig& config)
    : norm1(w["norm1"], config.dec_embed_dim, config.norm_eps),
      attn(w["attn"], {.dim = config.dec_embed_dim, .num_heads = config.dec_num_heads}),
      norm_y(w["norm_y"], config.dec_embed_dim, config.norm_eps),
      norm2(w["norm2"], config.dec_embed_dim, config.norm_eps),
      cross_attn(w["cross_attn"], config.dec_embed_dim, config.dec_num_heads),
      norm3(w["norm3"], config.dec_embed_dim, config.norm_eps),
      mlp(w["mlp"], config.dec_embed_dim, config.mlp_ratio) {}

Tensor DecoderBlock::forward(Ops& ops, TensorView own, const RopeTable& own_rope, TensorView other, const RopeTable& other_rope) const {
  Tensor x = attn.forward(ops, norm1.forward(ops, own), &own_rope, own);
  const Tensor y = norm_y.forward(ops, other);
  x = cross_attn.forward(ops, norm2.forward(ops, x), own_rope, y, other_rope, x);
  mlp.add_to(ops, norm3.forward(ops, x), x);
  return x;
}

Decoder::Decoder(const WeightScope& w, const Dust3rConfig& config, std::vector<int64_t> kept_layers)
    : config_(config),
      kept_layers_(std::move(kept_layers)),
      decoder_embed(w["decoder_embed"], config.enc_embed_dim, config.dec_embed_dim),
      dec_norm(w["dec_norm"], config.dec_embed_dim, config.norm_eps) {
  dec_blocks.reserve(static_cast<size_t>(config.dec_depth));
  dec_blocks2.reserve(static_cast<size_t>(config.dec_depth));
  for (int64_t i = 0; i < config.dec_depth; ++i) dec_blocks.emplace_back(w["dec_blocks"][i], config);
  for (int64_t i = 0; i < config.dec_depth; ++i) dec_blocks2.emplace_back(w["dec_blocks2"][i], config);
}

std::array<DecodedView, 2> Decoder::forward(Ops& ops, const std::array<TensorView, 2>& features, const std::array<PatchGrid, 2>& grids,
                                            const Progress& progress) const {
  const int64_t head_dim = config_.dec_embed_dim / config_.dec_num_heads;
  const RopeTable rope1 = make_rope_table(ops, {.grid = grids[0]}, head_dim, config_.rope_base);
  const RopeTable rope2 = make_rope_table(ops, {.grid = grids[1]}, head_dim, config_.rope_base);
  Tensor a = decoder_embed.forward(ops, features[0]);  // [B, N, C]
  Tensor b = decoder_embed.forward(ops, features[1]);  // [B, M, C]
  ops.probe(a, "decoder_embed.0");
  ops.probe(b, "decoder_embed.1");

  std::array<DecodedView, 2> views;
  for (size_t v = 0; v < 2; ++v) {
    views[v].grid = grids[v];
    views[v].tokens.resize(dec_blocks.size() + 1);
  }
  // Tokens of layer l live on in the views when a head reads them, else only until layer l + 1 is done.
  const auto keep = [&](int64_t layer) { return std::ranges::find(kept_layers_, layer) != kept_layers_.end(); };
  TensorView a_previous = a;
  TensorView b_previous = b;
  for (size_t i = 0; i < dec_blocks.size(); ++i) {
    progress.step("decoder", static_cast<int>(i), static_cast<int>(dec_blocks.size()));
    // Both branches read the other's tokens from before this layer.
    Tensor a_next = dec_blocks[i].forward(ops, a_previous, rope1, b_previous, rope2);
    Tensor b_next = dec_blocks2[i].forward(ops, b_previous, rope2, a_previous, rope1);
    const auto layer = static_cast<int64_t>(i) + 1;
    ops.probe(a_next, "dec_block_", i);
    ops.probe(b_next, "dec_block2_", i);
    Tensor& a_home = keep(layer) ? views[0].tokens[i + 1] : a;
    Tensor& b_home = keep(layer) ? views[1].tokens[i + 1] : b;
    a_home = std::move(a_next);
    b_home = std::move(b_next);
    a_previous = a_home;
    b_previous = b_home;
  }
  views[0].tokens.back() = dec_norm.forward(ops, a_previous);
  views[1].tokens.back() = dec_norm.forward(ops, b_previous);
  ops.probe(views[0].tokens.back(), "dec_norm.0");
  ops.probe(views[1].tokens.back(), "dec_norm.1");
  return views;
}

}  // namespace pointmap
