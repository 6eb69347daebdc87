// DINOv2 with registers (arXiv 2304.07193, 2309.16588): what a frame looks like, each frame by itself.
#pragma once

#include <vector>

#include "base/progress.h"
#include "models/vggt/config.h"
#include "nn/conv.h"
#include "nn/layer_norm.h"
#include "nn/transformer_block.h"

namespace pointmap {

// Which of how many frames, for progress.
struct FrameNumber {
  size_t index = 0;
  size_t count = 1;
};

class Dino {
 public:
  Dino(const WeightScope& w, const VggtConfig& config);

  // What is the same for all frames of one size.
  struct Embedding {
    Tensor leading;    // [1 + R, C]: the class token with its position, the registers without
    Tensor positions;  // [1, h, w, C], of the patches
  };
  Embedding embedding(Ops& ops, PatchGrid grid) const;
  PatchGrid grid_of(TensorView image) const { return patch_embed.grid_of(image); }

  // image [1, H, W, 3], ImageNet-normalised -> normalised patch tokens [N, C]
  Tensor forward(Ops& ops, TensorView image, const Embedding& embedding, const Progress& progress, FrameNumber frame) const;

 private:
  VggtConfig config_;
  Tensor cls_token;        // [1, 1, C]
  Tensor pos_embed;        // [1, 1 + G^2, C]: the class token's, then those of a square grid
  Tensor register_tokens;  // [1, R, C]
  PatchEmbed patch_embed;
  std::vector<TransformerBlock> blocks;
  LayerNorm norm;
};

}  // namespace pointmap
