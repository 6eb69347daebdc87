#include "kernels/cpu/pack_weights.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/process_memory.h"

namespace pointmap::cpu {
namespace {

template <typename Read>
void gather_row(const WeightSource& s, int64_t first, const Read& read, float* row) {
  for (int64_t t = 0; t < s.num_taps; ++t) {
    for (int64_t c = 0; c < s.num_channels; ++c) *row++ = read(first + t * s.tap_stride + c * s.channel_stride);
  }
}

// A vector of num_columns numbers of any type; none when it is empty.
std::vector<float> read_columns(TensorView vector) {
  std::vector<float> values;
  if (vector.empty()) return values;
  values.resize(static_cast<size_t>(vector.shape()[0]));
  read_weight_row({.weight = vector, .bias = {}, .scale = {}, .num_channels = vector.shape()[0]}, 0, 0, values.data());
  return values;
}

void pack_bias(const WeightSource& s, const std::vector<float>& scales, PackedWeights& packed) {
  float* to = packed.bias.data<float>();
  std::fill_n(to, packed.bias.shape().num_elements(), 0.0f);
  std::vector<float> values = read_columns(s.bias);
  if (values.empty()) return;
  for (size_t n = 0; n < scales.size(); ++n) values[n] *= scales[n];
  for (int64_t g = 0; g < packed.num_groups; ++g) {
    std::copy(values.begin(), values.end(), to + g * packed.panels_per_group * packed.panel_width);
  }
}

// Multiplies columns [first_column, first_column + num_columns) of W, in a panel [depth, width], by their scales.
void scale_panel(const float* scales, int64_t num_columns, const PackedWeights& packed, float* panel) {
  for (int64_t k = 0; k < packed.depth; ++k, panel += packed.panel_width) {
    for (int64_t n = 0; n < num_columns; ++n) panel[n] *= scales[n];
  }
}

}  // namespace

void read_weight_row(const WeightSource& s, int64_t g, int64_t n, float* row) {
  const int64_t first = g * s.group_stride + n * s.column_stride;
  if (s.weight.dtype() == DType::kF32) {
    const float* values = s.weight.data<float>();
    gather_row(
        s, first, [values](int64_t i) { return values[i]; }, row);
    return;
  }
  const auto* bits = static_cast<const uint16_t*>(s.weight.raw());
  if (s.weight.dtype() == DType::kF16) {
    gather_row(
        s, first, [bits](int64_t i) { return float_from_f16(bits[i]); }, row);
  } else {
    gather_row(
        s, first, [bits](int64_t i) { return float_from_bf16(bits[i]); }, row);
  }
}

WeightSource linear_source(TensorView weight, TensorView bias) {
  const Shape& s = weight.shape();
  return {.weight = weight, .bias = bias, .scale = {}, .num_columns = s[0], .num_channels = s[1], .column_stride = s[1]};
}

WeightSource conv_source(TensorView weight, TensorView bias) {
  const Shape& s = weight.shape();
  const int64_t taps = s[2] * s[3];
  return {.weight = weight,
          .bias = bias,
          .scale = {},
          .num_columns = s[0],
          .num_taps = taps,
          .num_channels = s[1],
          .column_stride = s[1] * taps,
          .tap_stride = 1,
          .channel_stride = taps};
}

WeightSource conv_transpose_source(TensorView weight, TensorView bias) {
  const Shape& s = weight.shape();
  const int64_t taps = s[2] * s[3];
  return {.weight = weight,
          .bias = bias,
          .scale = {},
          .num_groups = taps,
          .num_columns = s[1],
          .num_channels = s[0],
          .group_stride = 1,
          .column_stride = taps,
          .channel_stride = s[1] * taps};
}

PackedWeights pack_weights(const WeightSource& s, const OpsContext& context) {
  const int64_t depth = s.num_taps * s.num_channels;
  POINTMAP_CHECK(depth >= 1, "pack_weights: weight " + s.weight.shape().to_string() + " has no input features");
  const int64_t width = gemm_panel_width();
  PackedWeights packed{.num_groups = s.num_groups,
                       .num_columns = s.num_columns,
                       .depth = depth,
                       .panel_width = width,
                       .panels_per_group = (s.num_columns + width - 1) / width,
                       .panels = {},
                       .bias = {}};
  const int64_t num_panels = s.num_groups * packed.panels_per_group;
  packed.panels = Tensor(context.weights, DType::kF32, {num_panels, depth, width});
  advise_huge_pages(packed.panels.raw(), packed.panels.num_bytes());  // 85 to 89 % of peak on linears of ViT-L
  packed.bias = Tensor(context.weights, DType::kF32, {num_panels, width});
  const std::vector<float> scales = read_columns(s.scale);
  pack_bias(s, scales, packed);

  const bool rows_in_place = s.weight.dtype() == DType::kF32 && s.num_taps == 1 && s.channel_stride == 1;
  const int64_t scratch_floats = depth * (rows_in_place ? 1 : width + 1);  // a row of zeros, then a panel's rows
  Tensor scratch(context.activations, DType::kF32, {static_cast<int64_t>(context.pool.num_threads()), scratch_floats});
  context.pool.parallel_for(static_cast<size_t>(num_panels), [&](size_t panel, size_t worker) {
    float* zeros = scratch.data<float>() + static_cast<int64_t>(worker) * scratch_floats;
    std::fill_n(zeros, depth, 0.0f);
    const int64_t group = static_cast<int64_t>(panel) / packed.panels_per_group;
    const int64_t first_column = static_cast<int64_t>(panel) % packed.panels_per_group * width;
    std::vector<const float*> rows(static_cast<size_t>(width), zeros);
    for (int64_t i = 0; i < std::min(width, s.num_columns - first_column); ++i) {
      if (rows_in_place) {
        rows[static_cast<size_t>(i)] = s.weight.data<float>() + group * s.group_stride + (first_column + i) * s.column_stride;
      } else {
        float* row = zeros + (i + 1) * depth;
        read_weight_row(s, group, first_column + i, row);
        rows[static_cast<size_t>(i)] = row;
      }
    }
    float* const to = packed.panels.data<float>() + static_cast<int64_t>(panel) * depth * width;
    gemm_pack_panel(rows.data(), depth, to);
    if (!scales.empty()) scale_panel(scales.data() + first_column, std::min(width, s.num_columns - first_column), packed, to);
  });
  return packed;
}

}  // namespace pointmap::cpu
