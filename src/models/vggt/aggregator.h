// The trunk of VGGT (section 3.2 of the paper): tokens of all frames, attending within their frame and across all frames in turn.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/progress.h"
#include "models/vggt/config.h"
#include "models/vggt/dino.h"
#include "nn/transformer_block.h"

namespace pointmap {

// What heads read of one pair of blocks, side by side in the paper, apart here: nobody needs the two joined for all frames at once.
struct TokenLevel {
  Tensor frame;   // [S, P, C], after the frame block
  Tensor global;  // [S, P, C], after the global block
};

struct Aggregated {
  PatchGrid grid;
  int64_t num_frames = 0;
  int64_t num_special_tokens = 0;    // before the patches of a frame: P = special + h w
  std::vector<int64_t> places;       // of each frame in the levels: see frame_order.h
  std::array<TokenLevel, 4> levels;  // of VggtConfig::head_layers

  // Both halves joined, of one level and frame (counted as the caller does): of the patches [h w, 2C], and of the camera token [1, 2C].
  Tensor patch_tokens(Ops& ops, size_t level, int64_t frame) const;
  Tensor camera_token(Ops& ops, int64_t frame) const;

 private:
  Tensor tokens(Ops& ops, size_t level, int64_t frame, int64_t begin, int64_t end) const;
};

class Aggregator {
 public:
  Aggregator(const WeightScope& w, const VggtConfig& config);
  // images [1, H, W, 3] in [0, 1], all of one shape, sides multiples of the patch size. The first is the frame of reference.
  Aggregated forward(Ops& ops, std::span<const TensorView> images, const Progress& progress) const;

 private:
  Tensor tokens(Ops& ops, std::span<const TensorView> images, const Progress& progress) const;  // [S, P, C]

  VggtConfig config_;
  Tensor camera_token;    // [1, 2, 1, C]: of the first frame, of every other
  Tensor register_token;  // [1, 2, R, C], likewise
  Dino patch_embed;
  std::vector<TransformerBlock> frame_blocks;
  std::vector<TransformerBlock> global_blocks;
};

}  // namespace pointmap
