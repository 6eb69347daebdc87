// The convolutional part of DPT ("Vision Transformers for Dense Prediction", section 3): tokens of four depths become a pyramid of maps
// that is refined and merged from coarse to fine. What goes in and comes out differs from model to model and stays with them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "nn/conv.h"

namespace pointmap {

WeightScope::ConvShape conv1x1(int64_t in_channels, int64_t out_channels);
WeightScope::ConvShape conv3x3(int64_t in_channels, int64_t out_channels, int64_t stride = 1);  // padding 1

// What a residual unit adds to its convolutions.
enum class UnitSkip {
  kInput,           // x, as in the paper
  kRectifiedInput,  // max(x, 0): where the first ReLU works in place, upstream
};

// skip(x) + conv2(relu(conv1(relu(x)))).
class ResidualConvUnit {
 public:
  ResidualConvUnit(const WeightScope& w, int64_t channels, UnitSkip skip);
  // x [B, H, W, C] -> [B, H, W, C]
  Tensor forward(Ops& ops, TensorView x) const;

 private:
  UnitSkip skip_;
  Conv2d conv1;
  Conv2d conv2;
};

// Merges the running map with the next finer one and changes its size ("Fusion" in the paper's figure 1).
class FeatureFusionBlock {
 public:
  // has_lateral: the coarsest block has nothing to merge; its resConfUnit1 may be in checkpoints and never runs.
  FeatureFusionBlock(const WeightScope& w, int64_t channels, UnitSkip skip, bool has_lateral);
  // running [B, H, W, C], lateral of the same shape or empty -> [B, height, width, C]
  Tensor forward(Ops& ops, TensorView running, TensorView lateral, int64_t height, int64_t width) const;

 private:
  std::optional<ResidualConvUnit> resConfUnit1;
  ResidualConvUnit resConfUnit2;
  Conv2d out_conv;
};

// One level of the pyramid from the tokens of one depth ("Reassemble"): a projection, then a change of resolution.
class ReassembleBlock {
 public:
  struct Config {
    size_t level = 0;  // 0 to 3: 4x, 2x, 1x and 1/2 of the patch grid
    int64_t in_channels = 0;
    int64_t channels = 0;
  };
  // project, resize: the scopes of the two convolutions; level 2 has no second.
  ReassembleBlock(const WeightScope& project, const WeightScope& resize, const Config& config);
  // x [B, h, w, in] -> [B, h, w, C]
  Tensor project(Ops& ops, TensorView x) const { return project_.forward(ops, x); }
  // x [B, h, w, C] -> [B, 4h, 4w, C], [B, 2h, 2w, C], [B, h, w, C] or [B, ceil(h/2), ceil(w/2), C]
  Tensor resize(Ops& ops, Tensor x) const;

 private:
  Conv2d project_;
  std::optional<ConvTranspose2d> upsample_;
  std::optional<Conv2d> downsample_;
};

// The "scratch" part: four maps of the pyramid to one.
class PyramidFusion {
 public:
  struct Config {
    std::array<int64_t, 4> level_channels = {};
    int64_t channels = 0;
    UnitSkip skip = UnitSkip::kInput;
    // Level 3 of an odd grid is half a patch larger than half the grid. true: it is doubled and cut to the grid; false: resized to it.
    bool crop_odd_grids = false;
    std::string alias = {};   // of "layer{k}_rn": ALIAS.{k-1}; empty for none
    std::string probes = {};  // what the names of the stages begin with: PROBESlayer1_rn, PROBESrefinenet1
  };
  PyramidFusion(const WeightScope& scratch, Config config);
  // level 0 to 3, map [B, H, W, level channels] -> [B, H, W, C]
  Tensor lateral(Ops& ops, size_t level, TensorView map) const;
  // laterals as lateral() gave them, finest first -> [B, 2H, 2W, C] for the finest of [B, H, W, C]
  Tensor fuse(Ops& ops, const std::array<Tensor, 4>& laterals) const;

 private:
  Config config_;
  Conv2d layer1_rn;
  Conv2d layer2_rn;
  Conv2d layer3_rn;
  Conv2d layer4_rn;
  FeatureFusionBlock refinenet1;
  FeatureFusionBlock refinenet2;
  FeatureFusionBlock refinenet3;
  FeatureFusionBlock refinenet4;
};

}  // namespace pointmap
