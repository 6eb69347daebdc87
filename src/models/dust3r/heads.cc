#include "models/dust3r/heads.h"

#include <utility>

namespace pointmap {
namespace {

constexpr int64_t kRawChannels = 4;  // x, y, z, confidence

PyramidFusion::Config fusion_config(const Dust3rConfig& config, int number) {
  const std::string head = std::to_string(number);
  return {.level_channels = config.dpt_layer_dims,
          .channels = config.dpt_feature_dim,
          .skip = UnitSkip::kInput,
          .crop_odd_grids = true,
          .alias = "downstream_head" + head + ".dpt.scratch.layer_rn",  // pickled checkpoints know both names
          .probes = "head" + head + "_"};
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
      scratch(w["scratch"], fusion_config(c, number)),
      head_0(w["head.0"], conv3x3(c.dpt_feature_dim, c.dpt_last_dim)),
      head_2(w["head.2"], conv3x3(c.dpt_last_dim, c.dpt_last_dim)),
      head_4(w["head.4"], conv1x1(c.dpt_last_dim, kRawChannels)) {
  act_postprocess.reserve(4);
  for (size_t level = 0; level < 4; ++level) {
    const WeightScope act = w["act_postprocess"][static_cast<int64_t>(level)];
    const int64_t in_channels = level == 0 ? c.enc_embed_dim : c.dec_embed_dim;
    act_postprocess.emplace_back(act["0"], act["1"], ReassembleBlock::Config{level, in_channels, c.dpt_layer_dims[level]});
  }
}

Tensor DptHead::forward(Ops& ops, TensorView features, const DecodedView& decoded) const {
  // Four maps of 256 channels, at 4x, 2x, 1x and 1/2 of the patch grid.
  std::array<Tensor, 4> laterals;
  for (size_t level = 0; level < 4; ++level) {
    const TensorView tokens = level == 0 ? features : decoded.tokens[static_cast<size_t>(hooks_[level])];
    Tensor map = act_postprocess[level].project(ops, as_map(tokens, decoded.grid));
    map = act_postprocess[level].resize(ops, std::move(map));
    laterals[level] = scratch.lateral(ops, level, map);
  }
  Tensor path = scratch.fuse(ops, laterals);  // [B, 8h, 8w, 256]

  const auto [h, w] = decoded.grid;
  path = head_0.forward(ops, path);  // [B, 8h, 8w, 128]
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
