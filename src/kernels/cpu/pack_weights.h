// Weights from a checkpoint into the panels that gemm() reads.
#pragma once

#include "kernels/cpu/gemm.h"
#include "kernels/ops.h"

namespace pointmap::cpu {

// Element (group g, output column n, tap t, channel c) is at g group_stride + n column_stride + t tap_stride + c channel_stride;
// it becomes row k = t num_channels + c of panel n / panel_width of group g.
struct WeightSource {
  TensorView weight;  // F32, F16 or BF16
  TensorView bias;    // [num_columns], the same in every group, or empty
  TensorView scale;   // [num_columns], multiplies weight and bias of every group, or empty
  int64_t num_groups = 1;
  int64_t num_columns = 0;
  int64_t num_taps = 1;
  int64_t num_channels = 0;
  int64_t group_stride = 0;
  int64_t column_stride = 0;
  int64_t tap_stride = 0;
  int64_t channel_stride = 1;
};

WeightSource linear_source(TensorView weight, TensorView bias);          // [N, K]
WeightSource conv_source(TensorView weight, TensorView bias);            // [O, I, kh, kw]; taps are the pixels of the kernel
WeightSource conv_transpose_source(TensorView weight, TensorView bias);  // [I, O, k, k]; groups are the pixels of the kernel

// Column n of group g as num_taps * num_channels floats.
void read_weight_row(const WeightSource& source, int64_t group, int64_t column, float* row);

// Memory from the weights arena. 16-bit sources give the bits that their widened values would.
PackedWeights pack_weights(const WeightSource& source, const OpsContext& context);

}  // namespace pointmap::cpu
