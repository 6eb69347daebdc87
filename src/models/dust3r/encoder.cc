#include "models/dust3r/encoder.h"

#include <string>

namespace pointmap {

Encoder::Encoder(const WeightScope& w, const Dust3rConfig& config)
    : config_(config),
      patch_embed(w["patch_embed"], config.enc_embed_dim, config.patch_size),
      enc_norm(w["enc_norm"], config.enc_embed_dim, config.norm_eps) {
  const TransformerBlockConfig block{
      .dim = config.enc_embed_dim, .num_heads = config.enc_num_heads, .mlp_ratio = config.mlp_ratio, .norm_eps = config.norm_eps};
  enc_blocks.reserve(static_cast<size_t>(config.enc_depth));
  for (int64_t i = 0; i < config.enc_depth; ++i) enc_blocks.emplace_back(w["enc_blocks"][i], block);
}

Tensor Encoder::forward(Ops& ops, TensorView images, const Progress& progress, std::string_view view) const {
  const int64_t head_dim = config_.enc_embed_dim / config_.enc_num_heads;
  const RopeTable rope = make_rope_table(ops, {.grid = grid_of(images)}, head_dim, config_.rope_base);
  Tensor x = patch_embed.forward(ops, images);  // [B, N, C]
  ops.probe(x, "patch_embed", view);
  for (size_t i = 0; i < enc_blocks.size(); ++i) {
    progress.step("encoder", static_cast<int>(i), static_cast<int>(enc_blocks.size()));
    x = enc_blocks[i].forward(ops, x, &rope);
    ops.probe(x, "enc_block_", i, view);
  }
  x = enc_norm.forward(ops, x);
  ops.probe(x, "enc_norm", view);
  return x;
}

}  // namespace pointmap
