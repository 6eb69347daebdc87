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

struct RopePositions {
  PatchGrid grid = {};
  int64_t first = 0;      // of the first row and of the first column
  int64_t num_still = 0;  // tokens before the patches, at position 0: they are not rotated
};

// Angles position * base^(-4k/D), k < D/4, for the tokens before the patches and the patches in row-major order.
RopeTable make_rope_table(Ops& ops, const RopePositions& positions, int64_t head_dim, double base);

}  // namespace pointmap
