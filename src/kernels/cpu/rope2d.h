// Rotary position embedding by rows and columns of the patch grid.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/ops.h"

namespace pointmap::cpu {

struct RopeChannels {
  int64_t begin = 0;  // first channel of the first head
  int64_t num_heads = 0;
};

// Rotates, in place, the given channels of x [B, N, C] by the table's angles [tokens, D/2]: see Ops::rope2d.
void rope2d(ThreadPool& pool, Tensor& x, const RopeTable& table, RopeChannels channels);

}  // namespace pointmap::cpu
