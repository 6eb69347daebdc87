// Learnt position embeddings for grids of another size than they were trained on.
#pragma once

#include <vector>

#include "kernels/ops.h"
#include "nn/rope2d.h"

namespace pointmap {

// Where one output element comes from: inputs first, first + 1, ... times the weights, whose sum is 1.
struct ResampleTaps {
  int64_t first = 0;
  std::vector<double> weights;
};

// Bicubic resampling of an axis as PyTorch's antialias path has it: cubic parameter -0.5 (the ordinary path has -0.75), wider when
// shrinking, taps beyond the border dropped and the rest normalised.
std::vector<ResampleTaps> bicubic_antialias_taps(int64_t in_size, int64_t out_size);

// positions [h, w, C], F32 -> [1, H, W, C] for the given grid. Computed on the host, in double: once per pass over the frames.
Tensor resize_position_grid(Ops& ops, TensorView positions, PatchGrid grid);

}  // namespace pointmap
