// Ops that touch every element once: sums, products and copies.
#pragma once

#include "base/thread_pool.h"
#include "kernels/ops.h"

namespace pointmap::cpu {

// y = a + b, all contiguous and of one shape.
void add(ThreadPool& pool, TensorView a, TensorView b, Tensor& y);
// a rows [..., C], b and c of its shape or [C].
struct MultiplyAddInputs {
  TensorView a, b, c;
};
// y = a b + c.
void multiply_add(ThreadPool& pool, const MultiplyAddInputs& in, Tensor& y);
// y = max(x, floor), NaN stays. x rows [..., C], floor [C].
void at_least(ThreadPool& pool, TensorView x, TensorView floor, Tensor& y);
// In place on x [B, H, W, C]: by_column [W, C/2] to the first half of the channels, by_row [H, C/2] to the second.
void add_columns_and_rows(ThreadPool& pool, Tensor& x, TensorView by_column, TensorView by_row);

// a rows [..., A], b rows [..., B] -> y [..., A + B].
void concat_last(ThreadPool& pool, TensorView a, TensorView b, Tensor& y);
// The top-left part. x [B, H, W, C] -> y [B, height, width, C].
void crop(ThreadPool& pool, TensorView x, Tensor& y);
// x [B, h, w, C r^2] -> y [B, h r, w r, C] with r = factor: see Ops::pixel_shuffle.
void pixel_shuffle(ThreadPool& pool, TensorView x, int64_t factor, Tensor& y);

}  // namespace pointmap::cpu
