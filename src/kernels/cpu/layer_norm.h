// Layer normalisation over the last dimension, or over heads within it.
#pragma once

#include "base/thread_pool.h"
#include "kernels/ops.h"
#include "tensor/tensor_view.h"

namespace pointmap::cpu {

// x rows [..., C], gamma and beta [C] contiguous, float32.
struct LayerNormInputs {
  TensorView x, gamma, beta;
  float eps = 0;
};

// y [..., C], contiguous: (x - mean) / sqrt(variance + eps) gamma + beta with the biased variance of the row.
void layer_norm(ThreadPool& pool, const LayerNormInputs& inputs, float* y);

// Heads side by side in the rows of a tensor.
struct NormHeads {
  int64_t channel_begin = 0;
  int64_t num_heads = 0;
};
// In place, over every head of its own: see Ops::layer_norm_heads.
void layer_norm_heads(ThreadPool& pool, Tensor& x, const NormParameters& norm, NormHeads heads);

}  // namespace pointmap::cpu
