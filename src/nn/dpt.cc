#include "nn/dpt.h"

#include <utility>

namespace pointmap {
namespace {

// layer{k}_rn: no bias.
Conv2d layer_rn(const WeightScope& scratch, const PyramidFusion::Config& config, size_t level) {
  WeightScope::ConvShape shape = conv3x3(config.level_channels[level], config.channels);
  shape.has_bias = false;
  if (!config.alias.empty()) shape.alias = config.alias + "." + std::to_string(level);
  return Conv2d(scratch["layer" + std::to_string(level + 1) + "_rn"], shape);
}

}  // namespace

WeightScope::ConvShape conv1x1(int64_t in_channels, int64_t out_channels) {
  return {.in_channels = in_channels, .out_channels = out_channels, .kernel = 1};
}

WeightScope::ConvShape conv3x3(int64_t in_channels, int64_t out_channels, int64_t stride) {
  return {.in_channels = in_channels, .out_channels = out_channels, .kernel = 3, .geometry = {.stride = stride, .padding = 1}};
}

ResidualConvUnit::ResidualConvUnit(const WeightScope& w, int64_t channels, UnitSkip skip)
    : skip_(skip), conv1(w["conv1"], conv3x3(channels, channels)), conv2(w["conv2"], conv3x3(channels, channels)) {}

Tensor ResidualConvUnit::forward(Ops& ops, TensorView x) const {
  const Tensor hidden = conv1.forward(ops, x, {.relu_input = true, .activation = Activation::kRelu});
  return conv2.forward(ops, hidden, {.residual = x, .relu_residual = skip_ == UnitSkip::kRectifiedInput});
}

FeatureFusionBlock::FeatureFusionBlock(const WeightScope& w, int64_t channels, UnitSkip skip, bool has_lateral)
    : resConfUnit2(w["resConfUnit2"], channels, skip), out_conv(w["out_conv"], conv1x1(channels, channels)) {
  if (has_lateral) {
    resConfUnit1.emplace(w["resConfUnit1"], channels, skip);
  } else {
    w.ignore("resConfUnit1.");
  }
}

Tensor FeatureFusionBlock::forward(Ops& ops, TensorView running, TensorView lateral, int64_t height, int64_t width) const {
  Tensor merged;
  if (resConfUnit1) {
    merged = ops.add(running, resConfUnit1->forward(ops, lateral));
    running = merged;
  }
  Tensor refined = resConfUnit2.forward(ops, running);
  merged = Tensor();
  // Differs: upstream resizes first. Interpolation weights sum to one, so a 1x1 convolution commutes with it; this order does a
  // quarter of the products and changes only the rounding.
  refined = out_conv.forward(ops, refined);
  return ops.upsample_bilinear(refined, height, width, UpsampleMode::kAlignCorners);
}

ReassembleBlock::ReassembleBlock(const WeightScope& project, const WeightScope& resize, const Config& config)
    : project_(project, conv1x1(config.in_channels, config.channels)) {
  POINTMAP_CHECK(config.level < 4, "a pyramid has four levels, got level " + std::to_string(config.level));
  if (config.level < 2) upsample_.emplace(resize, config.channels, config.channels, config.level == 0 ? 4 : 2);
  if (config.level == 3) downsample_.emplace(resize, conv3x3(config.channels, config.channels, 2));
}

Tensor ReassembleBlock::resize(Ops& ops, Tensor x) const {
  if (upsample_) return upsample_->forward(ops, x);
  if (downsample_) return downsample_->forward(ops, x);
  return x;
}

PyramidFusion::PyramidFusion(const WeightScope& scratch, Config config)
    : config_(std::move(config)),
      layer1_rn(layer_rn(scratch, config_, 0)),
      layer2_rn(layer_rn(scratch, config_, 1)),
      layer3_rn(layer_rn(scratch, config_, 2)),
      layer4_rn(layer_rn(scratch, config_, 3)),
      refinenet1(scratch["refinenet1"], config_.channels, config_.skip, true),
      refinenet2(scratch["refinenet2"], config_.channels, config_.skip, true),
      refinenet3(scratch["refinenet3"], config_.channels, config_.skip, true),
      refinenet4(scratch["refinenet4"], config_.channels, config_.skip, false) {}

Tensor PyramidFusion::lateral(Ops& ops, size_t level, TensorView map) const {
  const std::array<const Conv2d*, 4> layers = {&layer1_rn, &layer2_rn, &layer3_rn, &layer4_rn};
  Tensor y = layers.at(level)->forward(ops, map);
  ops.probe(y, config_.probes, "layer", level + 1, "_rn");
  return y;
}

Tensor PyramidFusion::fuse(Ops& ops, const std::array<Tensor, 4>& laterals) const {
  const auto height = [&](size_t level) { return laterals[level].shape()[1]; };
  const auto width = [&](size_t level) { return laterals[level].shape()[2]; };
  const auto probed = [&](Tensor x, int number) {
    ops.probe(x, config_.probes, "refinenet", number);
    return x;
  };
  Tensor path;
  if (config_.crop_odd_grids) {
    path = probed(refinenet4.forward(ops, laterals[3], {}, 2 * height(3), 2 * width(3)), 4);
    path = ops.crop(path, height(2), width(2));
  } else {
    path = probed(refinenet4.forward(ops, laterals[3], {}, height(2), width(2)), 4);
  }
  path = probed(refinenet3.forward(ops, path, laterals[2], height(1), width(1)), 3);
  path = probed(refinenet2.forward(ops, path, laterals[1], height(0), width(0)), 2);
  return probed(refinenet1.forward(ops, path, laterals[0], 2 * height(0), 2 * width(0)), 1);
}

}  // namespace pointmap
