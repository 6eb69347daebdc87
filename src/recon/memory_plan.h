// How much memory a run will take, before it starts.
#pragma once

#include <array>
#include <cstdint>

#include "models/dust3r/config.h"
#include "models/vggt/config.h"
#include "nn/rope2d.h"

namespace pointmap {

struct MemoryPlan {
  uint64_t weights_bytes = 0;      // in the kernels' layout
  uint64_t activations_bytes = 0;  // what the arena will hold at most
  uint64_t other_bytes = 0;        // photos, the scene, code and scratch

  uint64_t total_bytes() const { return weights_bytes + activations_bytes + other_bytes; }
};

// grids: patches of each view; photo_bytes: decoded photos that stay in memory beside the run.
MemoryPlan plan_dust3r(const Dust3rConfig& config, int64_t num_parameters, const std::array<PatchGrid, 2>& grids, uint64_t photo_bytes);

// num_frames pictures of one size, their grid of patches given.
MemoryPlan plan_vggt(const VggtConfig& config, int64_t num_parameters, int64_t num_frames, PatchGrid grid);

// Throws Error{kLimitExceeded} with the number of bytes needed when the plan is above the limit.
void require_memory(const MemoryPlan& plan, uint64_t limit_bytes);

}  // namespace pointmap
