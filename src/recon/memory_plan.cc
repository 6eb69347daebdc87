#include "recon/memory_plan.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "kernels/make_ops.h"
#include "nn/linear.h"

namespace pointmap {
namespace {

constexpr uint64_t kFloatBytes = 4;
constexpr uint64_t kProgramBytes = uint64_t{16} << 20;  // code and scratch
constexpr uint64_t kProductBytes = uint64_t{8} << 20;   // what products and convolutions pack, of whatever size

uint64_t bytes_of(int64_t elements) {
  return checked_mul(static_cast<uint64_t>(elements), kFloatBytes);
}

// Blocks that the arena keeps for a transformer: packed QKV (3), the hidden layer of the MLP, and five of one width: x, its normalised
// copy, the context and two outputs.
uint64_t block_bytes(int64_t tokens, int64_t dim, int64_t mlp_ratio) {
  return bytes_of(tokens * dim * (3 + mlp_ratio + 5));
}

// Inside refinenet1 at a quarter of the resolution, and the maps layer1_rn to layer4_rn.
int64_t pyramid_elements(int64_t patches, int64_t feature_dim) {
  return patches * 16 * feature_dim * 6 + patches * (16 + 4 + 1 + 1) * feature_dim;
}

// A DPT head from fine to coarse. Few blocks fit another stage's requests, so they add up.
uint64_t dpt_bytes(const Dust3rConfig& config, PatchGrid grid) {
  const int64_t patches = grid.num_patches();
  const int64_t full_resolution = patches * 256 * config.dpt_last_dim * 2;                        // upsampled, and its convolution
  const int64_t half_resolution = patches * 64 * (config.dpt_feature_dim + config.dpt_last_dim);  // refinenet1, head.0
  return bytes_of(full_resolution + half_resolution + pyramid_elements(patches, config.dpt_feature_dim));
}

// What the kernels keep for the 3 x 3 convolutions of a DPT head beyond their parameters: the pyramid's, and two that follow, from
// feature_dim to `middle` and on to `last` channels.
int64_t dpt_packing_elements(const std::array<int64_t, 4>& layer_dims, int64_t feature_dim, int64_t middle, int64_t last) {
  const auto extra = [](int64_t in_channels, int64_t out_channels) {
    const Shape weight{out_channels, in_channels, 3, 3};
    return packed_conv2d_elements(Device::kCpu, weight, {.stride = 1, .padding = 1}) - weight.num_elements();
  };
  constexpr int64_t kUnits = 7;  // of two convolutions: one in refinenet4, two in the others
  int64_t elements = 2 * kUnits * extra(feature_dim, feature_dim) + extra(feature_dim, middle) + extra(middle, last);
  for (const int64_t dim : layer_dims) elements += extra(dim, feature_dim);
  return elements;
}

}  // namespace

MemoryPlan plan_dust3r(const Dust3rConfig& config, int64_t num_parameters, const std::array<PatchGrid, 2>& grids, uint64_t photo_bytes) {
  const int64_t tokens = grids[0].num_patches() + grids[1].num_patches();
  const int64_t pixels = tokens * config.patch_size * config.patch_size;
  MemoryPlan plan;
  const bool has_dpt = config.head == Dust3rConfig::Head::kDpt;
  const int64_t packing =
      has_dpt ? 2 * dpt_packing_elements(config.dpt_layer_dims, config.dpt_feature_dim, config.dpt_last_dim, config.dpt_last_dim) : 0;
  plan.weights_bytes = bytes_of(num_parameters + packing);
  const uint64_t encoder = block_bytes(grids[0] == grids[1] ? tokens : std::max(grids[0].num_patches(), grids[1].num_patches()),
                                       config.enc_embed_dim, config.mlp_ratio);
  // Features of both views, and the token maps that heads read.
  const uint64_t kept = bytes_of(tokens * (config.enc_embed_dim + 4 * config.dec_embed_dim));
  const uint64_t head = has_dpt ? std::max(dpt_bytes(config, grids[0]), dpt_bytes(config, grids[1])) : bytes_of(pixels * 8);
  // Blocks that the arena keeps from one stage seldom fit the next, so stages add up.
  plan.activations_bytes = encoder + kept + head;
  // The network's input, and the scene's copy of a view: raw values, points, confidence.
  plan.other_bytes = kProgramBytes + photo_bytes + bytes_of(pixels * (3 + 8));
  return plan;
}

MemoryPlan plan_vggt(const VggtConfig& config, int64_t num_parameters, int64_t num_frames, PatchGrid grid) {
  const int64_t dim = config.embed_dim, patches = grid.num_patches();
  const int64_t frame_tokens = config.num_special_tokens() + patches, tokens = num_frames * frame_tokens;
  const int64_t pixels = patches * config.patch_size * config.patch_size;
  const auto hidden = [&](int64_t rows) { return std::min(rows, Mlp::kMaxRows) * config.mlp_ratio * dim; };
  // The three stages run one after the other, and what one leaves is given back before the next begins.
  // x, its normalised copy, packed QKV (3), context and output; of the levels that heads read, six of eight are there by then.
  const int64_t aggregator = tokens * dim * (7 + 6) + hidden(tokens) + num_frames * pixels * 3;
  const int64_t dino = frame_tokens * dim * (7 + 1) + hidden(frame_tokens);
  const int64_t levels = tokens * dim * 8;
  const int64_t feature = config.dpt_feature_dim;
  const int64_t full_resolution = pixels * (feature / 2 + config.dpt_last_dim);
  const int64_t eighth = patches * 64 * (feature + feature / 2);  // of refinenet1, and its convolution
  const int64_t head = full_resolution + eighth + pyramid_elements(patches, feature);
  MemoryPlan plan;
  const int64_t packing = 2 * dpt_packing_elements(config.dpt_layer_dims, feature, feature / 2, config.dpt_last_dim);
  plan.weights_bytes = bytes_of(num_parameters + packing);
  plan.activations_bytes = kProductBytes + std::max(bytes_of(aggregator + dino), bytes_of(levels + head));
  // The scene's copy of every view: 8-bit picture; points, depth and the confidence of each.
  const auto view_bytes = static_cast<uint64_t>(pixels) * (3 + 4 * (3 + 1 + 1 + 1));
  plan.other_bytes = kProgramBytes + checked_mul(static_cast<uint64_t>(num_frames), view_bytes);
  return plan;
}

void require_memory(const MemoryPlan& plan, uint64_t limit_bytes) {
  if (limit_bytes == 0 || plan.total_bytes() <= limit_bytes) return;
  throw Error{kLimitExceeded, "this run needs " + std::to_string(plan.total_bytes()) + " bytes of memory (weights " +
                                  std::to_string(plan.weights_bytes) + ", activations " + std::to_string(plan.activations_bytes) +
                                  ", other " + std::to_string(plan.other_bytes) + "), the limit is " + std::to_string(limit_bytes)};
}

}  // namespace pointmap
