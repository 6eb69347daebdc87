// What turns the raw channels of dense heads into points or depths and their confidence.
#pragma once

#include "base/thread_pool.h"
#include "kernels/ops.h"

namespace pointmap::cpu {

// raw [B, H, W, 4] -> points r/max(|r|, 1e-8) expm1(|r|), confidence 1 + exp(c). Beyond |r| = 88.7 points are infinite, and NaN where
// the component is 0, as in float32 everywhere.
void activate_pointmap_exp(ThreadPool& pool, TensorView raw, Pointmap& out);
// raw [B, H, W, 4] -> points sign(v) expm1(|v|), each coordinate by itself, confidence 1 + exp(c).
void activate_pointmap_inv_log(ThreadPool& pool, TensorView raw, Pointmap& out);
// raw [B, H, W, 2] -> depth exp(z), confidence 1 + exp(c).
void activate_depth_exp(ThreadPool& pool, TensorView raw, Depthmap& out);

}  // namespace pointmap::cpu
