// Sizes of a VGGT network.
#pragma once

#include <array>
#include <cstdint>

#include "nn/transformer_block.h"

namespace pointmap {

struct VggtConfig {
  int64_t patch_size = 14;
  int64_t image_size = 518;  // that the position embedding was trained at: a grid of image_size / patch_size squared
  int64_t embed_dim = 1024;  // of DINOv2 and of the aggregator
  int64_t mlp_ratio = 4;

  int64_t dino_depth = 24;
  int64_t dino_num_heads = 16;
  float dino_norm_eps = 1e-6f;

  int64_t depth = 24;  // pairs of a frame and a global block
  int64_t num_heads = 16;
  int64_t num_register_tokens = 4;  // of DINOv2 and, others, of the aggregator
  double rope_base = 100;
  float norm_eps = 1e-5f;                                // of all else, the heads' too
  std::array<int64_t, 4> head_layers = {4, 11, 17, 23};  // whose tokens the dense heads read; the camera head reads the last

  int64_t camera_depth = 4;
  int64_t camera_num_heads = 16;
  int64_t camera_iterations = 4;
  float camera_adaptive_norm_eps = 1e-6f;

  std::array<int64_t, 4> dpt_layer_dims = {256, 512, 1024, 1024};
  int64_t dpt_feature_dim = 256;
  int64_t dpt_last_dim = 32;

  // facebook/VGGT-1B.
  static VggtConfig vggt_1b() { return {}; }
  // The small model of the golden data.
  static VggtConfig tiny();

  int64_t num_special_tokens() const { return 1 + num_register_tokens; }  // before the patches of a frame
  int64_t head_dim() const { return embed_dim / num_heads; }
  TransformerBlockConfig dino_block() const;
  TransformerBlockConfig aggregator_block() const;
  TransformerBlockConfig camera_block() const;

  // Throws Error{kUnsupported} naming the value that cannot be computed: sizes out of range, heads that do not divide, and so on.
  void validate() const;
};

}  // namespace pointmap
