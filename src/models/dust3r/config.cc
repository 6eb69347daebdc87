#include "models/dust3r/config.h"

#include <string>

#include "nn/config_checks.h"

namespace pointmap {

Dust3rConfig Dust3rConfig::tiny(Head head) {
  Dust3rConfig config;
  config.enc_embed_dim = 128;
  config.enc_depth = 3;
  config.enc_num_heads = 4;
  config.dec_embed_dim = 64;
  config.dec_num_heads = 2;
  config.head = head;
  return config;
}

void Dust3rConfig::validate() const {
  // Upper bounds are far above any published model.
  require_range("patch_size", patch_size, 1, 64);
  require_range("img_size", img_size, patch_size, 4096);
  require_range("enc_embed_dim", enc_embed_dim, 4, 16384);
  require_range("enc_depth", enc_depth, 1, 256);
  require_range("enc_num_heads", enc_num_heads, 1, 256);
  require_range("dec_embed_dim", dec_embed_dim, 4, 16384);
  require_range("dec_depth", dec_depth, 1, 256);
  require_range("dec_num_heads", dec_num_heads, 1, 256);
  require_range("mlp_ratio", mlp_ratio, 1, 16);
  require_rotary_heads("encoder", enc_embed_dim, enc_num_heads);
  require_rotary_heads("decoder", dec_embed_dim, dec_num_heads);
  require_rope_base(rope_base);
  if (head == Head::kDpt && patch_size != 16) {
    refuse_config("the DPT head needs patch_size 16, got " + std::to_string(patch_size));
  }
  if (head == Head::kDpt) require_range("dec_depth (with a DPT head)", dec_depth, 4, 256);
}

}  // namespace pointmap
