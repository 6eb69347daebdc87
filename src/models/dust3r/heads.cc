#include "models/dust3r/heads.h"

#include <utility>

namespace pointmap {
namespace {

constexpr int64_t kRawChannels = 4;  // x, y, z, confidence

WeightScope::ConvShape conv1x1(int64_t in, int64_t out) {
  return {.in_channels = in, .out_channels = out, .kernel = 1};
}

WeightScope::ConvShape conv3x3(int64_t in, int64_t out, int64_t stride = 1) {
  return {.in_channels = in, .out_channels = out, .kernel = 3, .geometry = {.stride = stride, .padding = 1}};
}

// scratch.layer{k}_rn: no bias. Pickled checkpoints know it as scratch.layer_rn.{k-1} too.
Conv2d layer_rn(const WeightScope& dpt, const std::string& dpt_name, int k, int64_t in, int64_t out) {
  WeightScope::ConvShape shape = conv3x3(in, out);
  shape.has_bias = false;
  shape.alias = dpt_name + ".scratch.layer_rn." + std::to_string(k - 1);
  return Conv2d(dpt["scratch"]["layer" + std::to_string(k) + "_rn"], shape);
}

// Tokens [B, h*w, C] as a map [B, h, w, C]: the same memory.
TensorView as_map(TensorView tokens, PatchGrid grid) {
  return tokens.reshape({tokens.shape()[0], grid.height, grid.width, tokens.shape()[2]});
}

std::string dpt_name(int number) {
  return "downstream_head" + std::to_string(number) + ".dpt";
}

}  // namespace

std::vector<int64_t> head_layers(const Dust3rConfig& config) {
  if (config.head == Dust3rConfig::Head::kLinear) return {config.dec_depth};
  return {0, config.dec_depth * 2 / 4, config.dec_depth * 3 / 4, config.dec_depth};
}

std::unique_ptr<Head> make_head(const WeightScope& w, const Dust3rConfig& config, int number) {
  if (config.head == Dust3rConfig::Head::kLinear) return std::make_unique<LinearHead>(w, config, number);
  return std::make_unique<DptHead>(w["dpt"], config, number);
}

DptHead::DptHead(const WeightScope& w, const Dust3rConfig& c, int number)
    : hooks_(head_layers(c)),
      number_(number),
      act_postprocess_0_0(w["act_postprocess.0.0"], conv1x1(c.enc_embed_dim, c.dpt_layer_dims[0])),
      act_postprocess_0_1(w["act_postprocess.0.1"], c.dpt_layer_dims[0], c.dpt_layer_dims[0], 4),
      act_postprocess_1_0(w["act_postprocess.1.0"], conv1x1(c.dec_embed_dim, c.dpt_layer_dims[1])),
      act_postprocess_1_1(w["act_postprocess.1.1"], c.dpt_layer_dims[1], c.dpt_layer_dims[1], 2),
      act_postprocess_2_0(w["act_postprocess.2.0"], conv1x1(c.dec_embed_dim, c.dpt_layer_dims[2])),
      act_postprocess_3_0(w["act_postprocess.3.0"], conv1x1(c.dec_embed_dim, c.dpt_layer_dims[3])),
      act_postprocess_3_1(w["act_postprocess.3.1"], conv3x3(c.dpt_layer_dims[3], c.dpt_layer_dims[3], 2)),
      layer1_rn(layer_rn(w, dpt_name(number), 1, c.dpt_layer_dims[0], c.dpt_feature_dim)),
      layer2_rn(layer_rn(w, dpt_name(number), 2, c.dpt_layer_dims[1], c.dpt_feature_dim)),
      layer3_rn(layer_rn(w, dpt_name(number), 3, c.dpt_layer_dims[2], c.dpt_feature_dim)),
      layer4_rn(layer_rn(w, dpt_name(number), 4, c.dpt_layer_dims[3], c.dpt_feature_dim)),
      refinenet1(w["scratch.refinenet1"], c.dpt_feature_dim, true),
      refinenet2(w["scratch.refinenet2"], c.dpt_feature_dim, true),
      refinenet3(w["scratch.refinenet3"], c.dpt_feature_dim, true),
      refinenet4(w["scratch.refinenet4"], c.dpt_feature_dim, false),
      head_0(w["head.0"], conv3x3(c.dpt_feature_dim, c.dpt_last_dim)),
      head_2(w["head.2"], conv3x3(c.dpt_last_dim, c.dpt_last_dim)),
      head_4(w["head.4"], conv1x1(c.dpt_last_dim, kRawChannels)) {}

Tensor DptHead::probed(Ops& ops, const char* name, Tensor x) const {
  ops.probe(x, "head", number_, "_", name);
  return x;
}

Tensor DptHead::forward(Ops& ops, TensorView features, const DecodedView& decoded) const {
  const auto [h, w] = decoded.grid;
  const auto tokens = [&](size_t hook) { return as_map(decoded.tokens[static_cast<size_t>(hooks_[hook])], decoded.grid); };

  // Reassemble: four maps of 256 channels, at 4x, 2x, 1x and 1/2 of the patch grid.
  Tensor layer_1 = act_postprocess_0_1.forward(ops, act_postprocess_0_0.forward(ops, as_map(features, decoded.grid)));
  layer_1 = probed(ops, "layer1_rn", layer1_rn.forward(ops, layer_1));  // [B, 4h, 4w, 256]
  Tensor layer_2 = act_postprocess_1_1.forward(ops, act_postprocess_1_0.forward(ops, tokens(1)));
  layer_2 = probed(ops, "layer2_rn", layer2_rn.forward(ops, layer_2));  // [B, 2h, 2w, 256]
  Tensor layer_3 = act_postprocess_2_0.forward(ops, tokens(2));
  layer_3 = probed(ops, "layer3_rn", layer3_rn.forward(ops, layer_3));  // [B, h, w, 256]
  Tensor layer_4 = act_postprocess_3_1.forward(ops, act_postprocess_3_0.forward(ops, tokens(3)));
  layer_4 = probed(ops, "layer4_rn", layer4_rn.forward(ops, layer_4));  // [B, ceil(h/2), ceil(w/2), 256]

  // Fuse from coarse to fine, doubling the size each time.
  const int64_t h4 = layer_4.shape()[1];
  const int64_t w4 = layer_4.shape()[2];
  Tensor path = probed(ops, "refinenet4", refinenet4.forward(ops, layer_4, {}, 2 * h4, 2 * w4));
  path = ops.crop(path, h, w);  // one row or column too many when the grid is odd
  path = probed(ops, "refinenet3", refinenet3.forward(ops, path, layer_3, 2 * h, 2 * w));
  path = probed(ops, "refinenet2", refinenet2.forward(ops, path, layer_2, 4 * h, 4 * w));
  path = probed(ops, "refinenet1", refinenet1.forward(ops, path, layer_1, 8 * h, 8 * w));  // [B, H/2, W/2, 256]

  path = head_0.forward(ops, path);  // [B, H/2, W/2, 128]
  path = ops.upsample_bilinear(path, 16 * h, 16 * w, UpsampleMode::kAlignCorners);
  path = head_2.forward(ops, path, {.activation = Activation::kRelu});  // [B, H, W, 128]
  path = head_4.forward(ops, path);                                     // [B, H, W, 4]
  ops.probe(path, "raw", number_);
  return path;
}

LinearHead::LinearHead(const WeightScope& w, const Dust3rConfig& config, int number)
    : patch_size_(config.patch_size),
      number_(number),
      proj(w["proj"], config.dec_embed_dim, kRawChannels * config.patch_size * config.patch_size) {}

Tensor LinearHead::forward(Ops& ops, TensorView, const DecodedView& decoded) const {
  const Tensor patches = proj.forward(ops, decoded.tokens.back());  // [B, N, 4 * 16 * 16]
  ops.probe(patches, "raw", number_);
  return ops.pixel_shuffle(as_map(patches, decoded.grid), patch_size_);
}

}  // namespace pointmap
