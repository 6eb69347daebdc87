#include "nn/dpt.h"

namespace pointmap {
namespace {

WeightScope::ConvShape conv3x3(int64_t channels) {
  return {.in_channels = channels, .out_channels = channels, .kernel = 3, .geometry = {.stride = 1, .padding = 1}};
}

}  // namespace

ResidualConvUnit::ResidualConvUnit(const WeightScope& w, int64_t channels)
    : conv1(w["conv1"], conv3x3(channels)), conv2(w["conv2"], conv3x3(channels)) {}

Tensor ResidualConvUnit::forward(Ops& ops, TensorView x) const {
  const Tensor hidden = conv1.forward(ops, x, {.relu_input = true, .activation = Activation::kRelu});
  return conv2.forward(ops, hidden, {.residual = x});
}

FeatureFusionBlock::FeatureFusionBlock(const WeightScope& w, int64_t channels, bool has_skip)
    : resConfUnit2(w["resConfUnit2"], channels), out_conv(w["out_conv"], {.in_channels = channels, .out_channels = channels, .kernel = 1}) {
  if (has_skip) {
    resConfUnit1.emplace(w["resConfUnit1"], channels);
  } else {
    w.ignore("resConfUnit1.");
  }
}

Tensor FeatureFusionBlock::forward(Ops& ops, TensorView running, TensorView skip, int64_t height, int64_t width) const {
  Tensor merged;
  if (resConfUnit1) {
    merged = ops.add(running, resConfUnit1->forward(ops, skip));
    running = merged;
  }
  Tensor refined = resConfUnit2.forward(ops, running);
  merged = Tensor();
  // Differs: upstream upsamples first. Interpolation weights sum to one, so a 1x1 convolution commutes with it; this order does a
  // quarter of the products and changes only the rounding.
  refined = out_conv.forward(ops, refined);
  return ops.upsample_bilinear(refined, height, width, UpsampleMode::kAlignCorners);
}

}  // namespace pointmap
