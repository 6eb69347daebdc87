// Bilinear resampling of channels-last maps.
#pragma once

#include "base/thread_pool.h"
#include "kernels/ops.h"

namespace pointmap::cpu {

// x [B, H, W, C], contiguous, to y [B, height, width, C].
void upsample_bilinear(ThreadPool& pool, TensorView x, UpsampleMode mode, Tensor& y);

}  // namespace pointmap::cpu
