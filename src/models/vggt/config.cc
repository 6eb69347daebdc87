#include "models/vggt/config.h"

#include <algorithm>
#include <string>

#include "nn/config_checks.h"

namespace pointmap {

VggtConfig VggtConfig::tiny() {
  VggtConfig config;
  config.image_size = 70;
  config.embed_dim = 384;
  config.dino_depth = 12;
  config.dino_num_heads = 6;
  config.num_heads = 6;
  return config;
}

TransformerBlockConfig VggtConfig::dino_block() const {
  return {.dim = embed_dim, .num_heads = dino_num_heads, .mlp_ratio = mlp_ratio, .norm_eps = dino_norm_eps, .layer_scale = true};
}

TransformerBlockConfig VggtConfig::aggregator_block() const {
  return {.dim = embed_dim, .num_heads = num_heads, .mlp_ratio = mlp_ratio, .norm_eps = norm_eps, .qk_norm = true, .layer_scale = true};
}

TransformerBlockConfig VggtConfig::camera_block() const {
  return {.dim = 2 * embed_dim, .num_heads = camera_num_heads, .mlp_ratio = mlp_ratio, .norm_eps = norm_eps, .layer_scale = true};
}

void VggtConfig::validate() const {
  // Upper bounds are far above any published model.
  require_range("patch_size", patch_size, 14, 14);  // the dense heads' pyramid ends at 8x, then at the image
  require_range("image_size", image_size, patch_size, 8192);
  if (image_size % patch_size != 0) refuse_config("image_size " + std::to_string(image_size) + " is no multiple of patch_size");
  require_range("embed_dim", embed_dim, 4, 16384);
  require_range("mlp_ratio", mlp_ratio, 1, 16);
  require_range("dino_depth", dino_depth, 1, 256);
  require_range("dino_num_heads", dino_num_heads, 1, 256);
  require_range("depth", depth, 4, 256);
  require_range("num_heads", num_heads, 1, 256);
  require_range("num_register_tokens", num_register_tokens, 0, 64);
  require_range("camera_depth", camera_depth, 1, 64);
  require_range("camera_num_heads", camera_num_heads, 1, 256);
  require_range("camera_iterations", camera_iterations, 1, 64);
  require_heads("DINOv2", embed_dim, dino_num_heads);
  require_rotary_heads("aggregator", embed_dim, num_heads);
  require_heads("camera head", 2 * embed_dim, camera_num_heads);
  require_rope_base(rope_base);
  if (!std::ranges::is_sorted(head_layers, std::ranges::less_equal())) refuse_config("head_layers must ascend");
  require_range("the first of head_layers", head_layers.front(), 0, depth - 1);
  require_range("the last of head_layers", head_layers.back(), 0, depth - 1);
  for (const int64_t dim : dpt_layer_dims) require_range("dpt_layer_dims", dim, 4, 16384);
  require_range("dpt_feature_dim", dpt_feature_dim, 8, 16384);
  require_range("dpt_last_dim", dpt_last_dim, 1, 16384);
}

}  // namespace pointmap
