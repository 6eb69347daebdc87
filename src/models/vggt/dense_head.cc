#include "models/vggt/dense_head.h"

#include <utility>

#include "nn/uv_embedding.h"

namespace pointmap {
namespace {

constexpr double kUvScale = 0.1;

PyramidFusion::Config fusion_config(const VggtConfig& config, const std::string& name) {
  return {.level_channels = config.dpt_layer_dims,
          .channels = config.dpt_feature_dim,
          .skip = UnitSkip::kRectifiedInput,
          .crop_odd_grids = false,
          .alias = {},
          .probes = name + "_"};
}

}  // namespace

DenseHead::DenseHead(const WeightScope& w, const VggtConfig& c, int64_t num_raw_channels, std::string name)
    : patch_size_(c.patch_size),
      name_(std::move(name)),
      norm(w["norm"], 2 * c.embed_dim, c.norm_eps),
      scratch(w["scratch"], fusion_config(c, name_)),
      output_conv1(w["scratch.output_conv1"], conv3x3(c.dpt_feature_dim, c.dpt_feature_dim / 2)),
      output_conv2_0(w["scratch.output_conv2.0"], conv3x3(c.dpt_feature_dim / 2, c.dpt_last_dim)),
      output_conv2_2(w["scratch.output_conv2.2"], conv1x1(c.dpt_last_dim, num_raw_channels)) {
  reassemble.reserve(4);
  for (size_t level = 0; level < 4; ++level) {
    const auto k = static_cast<int64_t>(level);
    reassemble.emplace_back(w["projects"][k], w["resize_layers"][k],
                            ReassembleBlock::Config{level, 2 * c.embed_dim, c.dpt_layer_dims[level]});
  }
}

Tensor DenseHead::forward(Ops& ops, const Aggregated& aggregated, int64_t frame) const {
  const auto [h, w] = aggregated.grid;
  const double aspect = static_cast<double>(w) / static_cast<double>(h);  // the image's, at every resolution
  const auto add_uv = [&](Tensor& map) {
    const Shape& s = map.shape();
    UvEmbedding(ops, {.height = s[1], .width = s[2], .aspect = aspect}, s[3], kUvScale).add_to(ops, map);
  };
  // Four maps of 256 channels, at 4x, 2x, 1x and 1/2 of the patch grid.
  std::array<Tensor, 4> laterals;
  for (size_t level = 0; level < 4; ++level) {
    const Tensor patches = norm.forward(ops, aggregated.patch_tokens(ops, level, frame));  // [h w, 2C]
    Tensor map = reassemble[level].project(ops, patches.view().reshape({1, h, w, patches.shape()[1]}));
    add_uv(map);
    map = reassemble[level].resize(ops, std::move(map));
    laterals[level] = scratch.lateral(ops, level, map);
  }
  Tensor path = scratch.fuse(ops, laterals);  // [1, 8h, 8w, 256]
  laterals = {};

  path = output_conv1.forward(ops, path);  // [1, 8h, 8w, 128]
  path = ops.upsample_bilinear(path, patch_size_ * h, patch_size_ * w, UpsampleMode::kAlignCorners);
  add_uv(path);                                                                 // [1, H, W, 128]
  path = output_conv2_0.forward(ops, path, {.activation = Activation::kRelu});  // [1, H, W, 32]
  path = output_conv2_2.forward(ops, path);                                     // [1, H, W, raw]
  ops.probe(path, name_, "_raw");
  return path;
}

}  // namespace pointmap
