// One camera per frame, from the frames' camera tokens by iterative refinement (section 3.3 of the paper).
#pragma once

#include <vector>

#include "base/progress.h"
#include "models/vggt/config.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/transformer_block.h"

namespace pointmap {

class CameraHead {
 public:
  CameraHead(const WeightScope& w, const VggtConfig& config);
  // tokens [S, 2C], the camera tokens -> pose encodings [S, 9]: see pose_encoding.h
  Tensor forward(Ops& ops, TensorView tokens, const Progress& progress) const;

 private:
  Tensor modulated(Ops& ops, TensorView tokens, TensorView normalized, TensorView pose) const;

  VggtConfig config_;
  LayerNorm token_norm;
  Tensor empty_pose_tokens;  // [1, 1, 9]: the pose to start from
  Linear embed_pose;
  Linear poseLN_modulation;
  std::vector<TransformerBlock> trunk;
  LayerNorm trunk_norm;
  Linear pose_branch_fc1;
  Linear pose_branch_fc2;
};

}  // namespace pointmap
