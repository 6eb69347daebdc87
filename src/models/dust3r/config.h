// Sizes of a DUSt3R network.
#pragma once

#include <array>
#include <cstdint>

namespace pointmap {

struct Dust3rConfig {
  enum class Head {
    kDpt,     // convolutional, smooth: the *_dpt checkpoints
    kLinear,  // one projection per patch: the *_linear checkpoints
  };

  int64_t img_size = 512;  // longer side of the pictures it was trained on; others work, less well
  int64_t patch_size = 16;
  int64_t enc_embed_dim = 1024;
  int64_t enc_depth = 24;
  int64_t enc_num_heads = 16;
  int64_t dec_embed_dim = 768;
  int64_t dec_depth = 12;
  int64_t dec_num_heads = 12;
  int64_t mlp_ratio = 4;
  double rope_base = 100;
  float norm_eps = 1e-6f;
  Head head = Head::kDpt;
  std::array<int64_t, 4> dpt_layer_dims = {96, 192, 384, 768};
  int64_t dpt_feature_dim = 256;
  int64_t dpt_last_dim = 128;

  // DUSt3R_ViTLarge_BaseDecoder_512_dpt.
  static Dust3rConfig large_512_dpt() { return {}; }
  // The small models of the golden data.
  static Dust3rConfig tiny(Head head);

  // Throws Error{kUnsupported} naming the value that cannot be computed: sizes out of range, heads that do not divide, and so on.
  void validate() const;
};

}  // namespace pointmap
