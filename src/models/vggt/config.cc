#include "models/vggt/config.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/error.h"

namespace pointmap {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error{kUnsupported, "model configuration: " + what};
}

void require_range(std::string_view name, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return;
  refuse(std::string(name) + " is " + std::to_string(value) + ", want " + std::to_string(low) + " to " + std::to_string(high));
}

void require_heads(std::string_view part, int64_t dim, int64_t num_heads, int64_t multiple) {
  if (dim % num_heads == 0 && dim / num_heads % multiple == 0) return;
  refuse(std::string(part) + " of " + std::to_string(dim) + " channels and " + std::to_string(num_heads) +
         " heads: the head size must be a whole multiple of " + std::to_string(multiple));
}

}  // namespace

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
  // Upper bounds keep a hostile config.json from asking for terabytes; they are far above any published model.
  require_range("patch_size", patch_size, 14, 14);  // the dense heads' pyramid ends at 8x, then at the image
  require_range("image_size", image_size, patch_size, 8192);
  if (image_size % patch_size != 0) refuse("image_size " + std::to_string(image_size) + " is no multiple of patch_size");
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
  require_heads("DINOv2", embed_dim, dino_num_heads, 1);
  require_heads("aggregator", embed_dim, num_heads, 4);  // rotary embedding
  require_heads("camera head", 2 * embed_dim, camera_num_heads, 1);
  if (!(rope_base > 1 && rope_base < 1e9)) refuse("RoPE base " + std::to_string(rope_base));
  if (!std::ranges::is_sorted(head_layers, std::ranges::less_equal())) refuse("head_layers must ascend");
  require_range("the first of head_layers", head_layers.front(), 0, depth - 1);
  require_range("the last of head_layers", head_layers.back(), 0, depth - 1);
  for (const int64_t dim : dpt_layer_dims) require_range("dpt_layer_dims", dim, 4, 16384);
  require_range("dpt_feature_dim", dpt_feature_dim, 8, 16384);
  require_range("dpt_last_dim", dpt_last_dim, 1, 16384);
}

}  // namespace pointmap
