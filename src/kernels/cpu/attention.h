// softmax(scale Q K^T) V per head, fused: a block of query rows goes from scores to context while it is in cache, and the full
// matrix of scores never exists.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "tensor/arena.h"
#include "tensor/tensor_view.h"

namespace pointmap::cpu {

// q rows [B, Nq, heads D], k and v rows [B, Nk, heads D], float32, any row stride, Nk >= 1.
struct AttentionInputs {
  TensorView q, k, v;
  int64_t num_heads = 1;
  float scale = 1;
};

// Writes y [B, Nq, heads D], contiguous, apart from the inputs. Scratch comes from `arena`: per thread about
// 2 Nk D + 60 Ki floats. Every output is summed in one order (blocks of 96 keys, the blocks in order), whoever computes it.
void attention(ThreadPool& pool, Arena& arena, const AttentionInputs& inputs, float* y);

}  // namespace pointmap::cpu
