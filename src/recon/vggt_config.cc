#include "recon/vggt_config.h"

#include <cmath>
#include <string>

#include "base/error.h"

namespace pointmap {
namespace {

constexpr const char* kCameraToken = "aggregator.camera_token";
constexpr int64_t kDinoHeadDim = 64;

const Shape& shape_of(const Checkpoint& checkpoint, const std::string& name, size_t rank) {
  const SafetensorsEntry* entry = checkpoint.find(name);
  const std::string file = checkpoint.files().front().path().string();
  if (entry == nullptr) throw Error{kUnsupported, file + ": not a VGGT checkpoint that we can run, there is no tensor '" + name + "'"};
  if (entry->shape.rank() != rank || entry->shape.num_elements() == 0) {
    throw Error{kUnsupported, file + ": tensor '" + name + "' is " + entry->shape.to_string() + ", want " + std::to_string(rank) +
                                  " dimensions, none of them 0"};
  }
  return entry->shape;
}

int64_t count_blocks(const Checkpoint& checkpoint, const std::string& prefix) {
  int64_t count = 0;
  while (checkpoint.find(prefix + std::to_string(count) + ".norm1.weight") != nullptr) ++count;
  return count;
}

}  // namespace

bool is_vggt(const Checkpoint& checkpoint) {
  return checkpoint.find(kCameraToken) != nullptr;
}

VggtConfig vggt_config_from(const Checkpoint& checkpoint) {
  const auto shape = [&](const std::string& name, size_t rank) -> const Shape& { return shape_of(checkpoint, name, rank); };
  VggtConfig config;
  config.embed_dim = shape(kCameraToken, 4)[3];
  config.num_register_tokens = shape("aggregator.register_token", 4)[2];
  config.patch_size = shape("aggregator.patch_embed.patch_embed.proj.weight", 4)[3];
  const int64_t num_positions = shape("aggregator.patch_embed.pos_embed", 3)[1] - 1;  // the class token has one as well
  const auto grid_side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(num_positions))));
  config.image_size = grid_side * config.patch_size;
  config.mlp_ratio = shape("aggregator.frame_blocks.0.mlp.fc1.weight", 2)[0] / config.embed_dim;
  config.dino_depth = count_blocks(checkpoint, "aggregator.patch_embed.blocks.");
  config.dino_num_heads = config.embed_dim / kDinoHeadDim;
  config.depth = count_blocks(checkpoint, "aggregator.frame_blocks.");
  config.num_heads = config.embed_dim / shape("aggregator.frame_blocks.0.attn.q_norm.weight", 1)[0];
  config.camera_depth = count_blocks(checkpoint, "camera_head.trunk.");
  for (size_t level = 0; level < config.dpt_layer_dims.size(); ++level) {
    config.dpt_layer_dims[level] = shape("depth_head.projects." + std::to_string(level) + ".weight", 4)[0];
  }
  config.dpt_feature_dim = shape("depth_head.scratch.layer1_rn.weight", 4)[0];
  config.dpt_last_dim = shape("depth_head.scratch.output_conv2.0.weight", 4)[0];
  config.validate();
  return config;
}

}  // namespace pointmap
