// The convolutional blocks of DPT ("Vision Transformers for Dense Prediction", section 3): what refines and merges the maps that
// token sequences were reassembled into. Heads that differ in what goes in and out are built from these.
#pragma once

#include <optional>

#include "nn/conv.h"

namespace pointmap {

// x + conv2(relu(conv1(relu(x)))). The skip adds x itself, not relu(x).
class ResidualConvUnit {
 public:
  ResidualConvUnit(const WeightScope& w, int64_t channels);
  // x [B, H, W, C] -> [B, H, W, C]
  Tensor forward(Ops& ops, TensorView x) const;

 private:
  Conv2d conv1;
  Conv2d conv2;
};

// Merges the running map with the next finer one and doubles its size ("Fusion" in the paper's figure 1).
class FeatureFusionBlock {
 public:
  // has_skip: the coarsest block has nothing to merge; its resConfUnit1 is in checkpoints and never runs.
  FeatureFusionBlock(const WeightScope& w, int64_t channels, bool has_skip);
  // running [B, H, W, C], skip of the same shape or empty -> [B, height, width, C]
  Tensor forward(Ops& ops, TensorView running, TensorView skip, int64_t height, int64_t width) const;

 private:
  std::optional<ResidualConvUnit> resConfUnit1;
  ResidualConvUnit resConfUnit2;
  Conv2d out_conv;
};

}  // namespace pointmap
