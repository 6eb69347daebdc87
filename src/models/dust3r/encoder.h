// The shared ViT encoder: each view alone.
#pragma once

#include <string_view>
#include <vector>

#include "base/progress.h"
#include "models/dust3r/config.h"
#include "nn/conv.h"
#include "nn/layer_norm.h"
#include "nn/transformer_block.h"

namespace pointmap {

class Encoder {
 public:
  Encoder(const WeightScope& w, const Dust3rConfig& config);
  PatchGrid grid_of(TensorView images) const { return patch_embed.grid_of(images); }
  // images [B, H, W, 3] in [-1, 1] -> features [B, N, C], normalised. view: appended to the names of probes ("", ".0", ".1").
  Tensor forward(Ops& ops, TensorView images, const Progress& progress, std::string_view view) const;

 private:
  Dust3rConfig config_;
  PatchEmbed patch_embed;
  std::vector<TransformerBlock> enc_blocks;
  LayerNorm enc_norm;
};

}  // namespace pointmap
