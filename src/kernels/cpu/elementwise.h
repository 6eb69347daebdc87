// Ops that touch every element once: sums, copies and the activation of point maps.
#pragma once

#include "base/thread_pool.h"
#include "kernels/ops.h"

namespace pointmap::cpu {

// y = a + b, all contiguous and of one shape.
void add(ThreadPool& pool, TensorView a, TensorView b, Tensor& y);
// The top-left part. x [B, H, W, C] -> y [B, height, width, C].
void crop(ThreadPool& pool, TensorView x, Tensor& y);
// x [B, h, w, C r^2] -> y [B, h r, w r, C] with r = factor: see Ops::pixel_shuffle.
void pixel_shuffle(ThreadPool& pool, TensorView x, int64_t factor, Tensor& y);
// raw [B, H, W, 4] -> points r/max(|r|, 1e-8) expm1(|r|), confidence 1 + exp(c). Beyond |r| = 88.7 points are infinite, and NaN where
// the component is 0, as in float32 everywhere.
void activate_pointmap_exp(ThreadPool& pool, TensorView raw, Pointmap& out);

}  // namespace pointmap::cpu
