// Two decoders, one per view, that exchange what they know in every block.
#pragma once

#include <array>
#include <vector>

#include "base/progress.h"
#include "models/dust3r/config.h"
#include "nn/attention.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/rope2d.h"

namespace pointmap {

// Self-attention, cross-attention to the other view, MLP; each on a normalised input.
class DecoderBlock {
 public:
  DecoderBlock(const WeightScope& w, const Dust3rConfig& config);
  // own [B, N, C], other [B, M, C] (as it was before this layer) -> [B, N, C]
  Tensor forward(Ops& ops, TensorView own, const RopeTable& own_rope, TensorView other, const RopeTable& other_rope) const;

 private:
  LayerNorm norm1;
  SelfAttention attn;
  LayerNorm norm_y;  // of the other view, which is not modified
  LayerNorm norm2;
  CrossAttention cross_attn;
  LayerNorm norm3;
  Mlp mlp;
};

// What a head reads of one view. Index 0 is the encoder's output, index l the output of decoder block l - 1, the last one
// normalised. Entries that no head reads stay empty.
struct DecodedView {
  PatchGrid grid;
  std::vector<Tensor> tokens;  // [B, N, C]; index 0 is empty, its owner is the caller
};

class Decoder {
 public:
  // kept_layers: indices of DecodedView::tokens that heads will read.
  Decoder(const WeightScope& w, const Dust3rConfig& config, std::vector<int64_t> kept_layers);
  // features [B, N, enc C] of each view
  std::array<DecodedView, 2> forward(Ops& ops, const std::array<TensorView, 2>& features, const std::array<PatchGrid, 2>& grids,
                                     const Progress& progress) const;

 private:
  Dust3rConfig config_;
  std::vector<int64_t> kept_layers_;
  Linear decoder_embed;  // shared by both views
  std::vector<DecoderBlock> dec_blocks;
  std::vector<DecoderBlock> dec_blocks2;
  LayerNorm dec_norm;  // shared by both views
};

}  // namespace pointmap
