// Rotary position embedding of image patches: half of each head turns by the row, half by the column (RoFormer, eq. 34, in 2D).
#pragma once

#include "kernels/ops.h"

namespace pointmap {

struct PatchGrid {
  int64_t height = 0;  // rows of patches
  int64_t width = 0;   // columns of patches

  int64_t num_patches() const { return height * width; }
  bool operator==(const PatchGrid&) const = default;
};

// Angles position * base^(-4k/D), k < D/4, for patches in row-major order with integer positions from 0.
RopeTable make_rope_table(Ops& ops, PatchGrid grid, int64_t head_dim, double base);

}  // namespace pointmap
