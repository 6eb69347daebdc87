// Layer normalisation over the last dimension.
#pragma once

#include "base/thread_pool.h"
#include "tensor/tensor_view.h"

namespace pointmap::cpu {

// x rows [..., C], gamma and beta [C] contiguous, float32.
struct LayerNormInputs {
  TensorView x, gamma, beta;
  float eps = 0;
};

// y [..., C], contiguous: (x - mean) / sqrt(variance + eps) gamma + beta with the biased variance of the row.
void layer_norm(ThreadPool& pool, const LayerNormInputs& inputs, float* y);

}  // namespace pointmap::cpu
