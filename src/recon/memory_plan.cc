#include "recon/memory_plan.h"

#include <algorithm>
#include <string>

#include "base/check.h"

namespace pointmap {
namespace {

constexpr uint64_t kFloatBytes = 4;

uint64_t bytes_of(int64_t elements) {
  return checked_mul(static_cast<uint64_t>(elements), kFloatBytes);
}

// Alive at once in a transformer block while fc2 runs: x, its normalised copy, the hidden layer and the output; the attention half
// (x, norm, qkv, context, output) is as large for a ratio of 4.
uint64_t block_bytes(int64_t tokens, int64_t dim, int64_t mlp_ratio) {
  return bytes_of(tokens * dim * (3 + mlp_ratio));
}

// The last stage of a DPT head is its largest: the upsampled map and the convolution's output at full resolution, the map before
// upsampling that the arena still keeps, and the pyramid.
uint64_t dpt_bytes(const Dust3rConfig& config, PatchGrid grid) {
  const int64_t patches = grid.num_patches();
  const int64_t full_resolution = patches * 256 * config.dpt_last_dim * 2;
  const int64_t half_resolution = patches * 64 * (config.dpt_feature_dim + config.dpt_last_dim);
  const int64_t pyramid = patches * (16 + 4 + 1 + 1) * config.dpt_feature_dim;
  return bytes_of(full_resolution + half_resolution + pyramid);
}

}  // namespace

MemoryPlan plan_dust3r(const Dust3rConfig& config, int64_t num_parameters, const std::array<PatchGrid, 2>& grids, uint64_t photo_bytes) {
  const int64_t tokens = grids[0].num_patches() + grids[1].num_patches();
  const int64_t pixels = tokens * config.patch_size * config.patch_size;
  MemoryPlan plan;
  plan.weights_bytes = bytes_of(num_parameters);
  const uint64_t encoder = block_bytes(grids[0] == grids[1] ? tokens : std::max(grids[0].num_patches(), grids[1].num_patches()),
                                       config.enc_embed_dim, config.mlp_ratio);
  // Features of both views, and the token maps that heads read.
  const uint64_t kept = bytes_of(tokens * (config.enc_embed_dim + 4 * config.dec_embed_dim));
  const bool has_dpt = config.head == Dust3rConfig::Head::kDpt;
  const uint64_t head = has_dpt ? std::max(dpt_bytes(config, grids[0]), dpt_bytes(config, grids[1])) : bytes_of(pixels * 8);
  // Blocks that the arena keeps from one stage seldom fit the next, so stages add up.
  plan.activations_bytes = encoder + kept + head;
  constexpr uint64_t kProgramBytes = uint64_t{48} << 20;
  // Network input, raw values, points, confidence and the scene's copies of them.
  plan.other_bytes = kProgramBytes + photo_bytes + bytes_of(pixels * (3 + 4 + 4 + 4 + 4));
  return plan;
}

void require_memory(const MemoryPlan& plan, uint64_t limit_bytes) {
  if (limit_bytes == 0 || plan.total_bytes() <= limit_bytes) return;
  throw Error{kLimitExceeded, "this run needs " + std::to_string(plan.total_bytes()) + " bytes of memory (weights " +
                                  std::to_string(plan.weights_bytes) + ", activations " + std::to_string(plan.activations_bytes) +
                                  ", other " + std::to_string(plan.other_bytes) + "), the limit is " + std::to_string(limit_bytes)};
}

}  // namespace pointmap
