#include "models/vggt/dino.h"

#include "nn/position_grid.h"

namespace pointmap {
namespace {

int64_t trained_grid_side(const VggtConfig& config) {
  return config.image_size / config.patch_size;
}

}  // namespace

Dino::Dino(const WeightScope& w, const VggtConfig& config)
    : config_(config),
      cls_token(w.tensor("cls_token", {1, 1, config.embed_dim})),
      pos_embed(w.tensor("pos_embed", {1, 1 + trained_grid_side(config) * trained_grid_side(config), config.embed_dim})),
      register_tokens(w.tensor("register_tokens", {1, config.num_register_tokens, config.embed_dim})),
      patch_embed(w["patch_embed"], config.embed_dim, config.patch_size),
      norm(w["norm"], config.embed_dim, config.dino_norm_eps) {
  blocks.reserve(static_cast<size_t>(config.dino_depth));
  for (int64_t i = 0; i < config.dino_depth; ++i) blocks.emplace_back(w["blocks"][i], config.dino_block());
  w.ignore("mask_token");  // left over from pre-training
}

Dino::Embedding Dino::embedding(Ops& ops, PatchGrid grid) const {
  const int64_t dim = config_.embed_dim, side = trained_grid_side(config_);
  const TensorView positions = pos_embed.view().reshape({1 + side * side, dim});
  const Tensor cls = ops.add(cls_token.view().reshape({1, dim}), positions.slice_first(0, 1));
  const TensorView registers = register_tokens.view().reshape({config_.num_register_tokens, dim});
  const TensorView trained_grid = positions.slice_first(1, 1 + side * side).reshape({side, side, dim});
  return {.leading = ops.concat_first({cls, registers}), .positions = resize_position_grid(ops, trained_grid, grid)};
}

Tensor Dino::forward(Ops& ops, TensorView image, const Embedding& embedding, const Progress& progress, FrameNumber frame) const {
  const int64_t dim = config_.embed_dim, num_leading = embedding.leading.shape()[0];
  const int64_t num_tokens = num_leading + grid_of(image).num_patches();
  Tensor x = patch_embed.forward(ops, image, embedding.positions);  // [1, N, C]
  x = ops.concat_first({embedding.leading, x.view().reshape({num_tokens - num_leading, dim})});
  x = std::move(x).reshaped({1, num_tokens, dim});
  for (size_t i = 0; i < blocks.size(); ++i) {
    progress.step("image encoder", static_cast<int>(frame.index * blocks.size() + i), static_cast<int>(frame.count * blocks.size()));
    x = blocks[i].forward(ops, x, nullptr);
  }
  const TensorView patches = x.view().reshape({num_tokens, dim}).slice_first(num_leading, num_tokens);
  return norm.forward(ops, patches);
}

}  // namespace pointmap
