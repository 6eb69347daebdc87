#include "models/dust3r/config.h"

#include <string>
#include <string_view>

#include "base/error.h"

namespace pointmap {
namespace {

void require_range(std::string_view name, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return;
  throw Error{kUnsupported, "model configuration: " + std::string(name) + " is " + std::to_string(value) + ", want " + std::to_string(low) +
                                " to " + std::to_string(high)};
}

void require_heads(std::string_view part, int64_t dim, int64_t num_heads) {
  if (dim % num_heads == 0 && dim / num_heads % 4 == 0) return;
  throw Error{kUnsupported, "model configuration: " + std::string(part) + " of " + std::to_string(dim) + " channels and " +
                                std::to_string(num_heads) + " heads: the head size must be a whole multiple of 4 (rotary embedding)"};
}

}  // namespace

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
  // Upper bounds keep a hostile config.json from asking for terabytes; they are far above any published model.
  require_range("patch_size", patch_size, 1, 64);
  require_range("img_size", img_size, patch_size, 4096);
  require_range("enc_embed_dim", enc_embed_dim, 4, 16384);
  require_range("enc_depth", enc_depth, 1, 256);
  require_range("enc_num_heads", enc_num_heads, 1, 256);
  require_range("dec_embed_dim", dec_embed_dim, 4, 16384);
  require_range("dec_depth", dec_depth, 1, 256);
  require_range("dec_num_heads", dec_num_heads, 1, 256);
  require_range("mlp_ratio", mlp_ratio, 1, 16);
  require_heads("encoder", enc_embed_dim, enc_num_heads);
  require_heads("decoder", dec_embed_dim, dec_num_heads);
  if (!(rope_base > 1 && rope_base < 1e9)) throw Error{kUnsupported, "model configuration: RoPE base " + std::to_string(rope_base)};
  if (head == Head::kDpt && patch_size != 16) {
    throw Error{kUnsupported, "model configuration: the DPT head needs patch_size 16, got " + std::to_string(patch_size)};
  }
  if (head == Head::kDpt) require_range("dec_depth (with a DPT head)", dec_depth, 4, 256);
}

}  // namespace pointmap
