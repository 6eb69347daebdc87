// The order in which the network sees its frames.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/ops.h"

namespace pointmap {

// The frame of reference, 0, stays first; the others are put into an order that follows from their pixels alone. The network does not
// care, but sums in floating point do: so the same frames give the same bits in whatever order they come. Frames of equal pixels
// are interchangeable. images [1, H, W, 3]; entry i is the index of the frame that goes to place i.
std::vector<size_t> frame_order(Ops& ops, std::span<const TensorView> images);

}  // namespace pointmap
