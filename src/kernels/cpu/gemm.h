// The one matrix product behind linear layers and convolutions: C = activation(A W^T + bias) + residual with the weights W
// packed at load. Convolutions come here too: their rows of A are patches of the image, gathered block by block while packing.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/patch_rows.h"
#include "kernels/ops.h"

namespace pointmap::cpu {

// W in panels of panel_width output features, [group][panel][K][panel_width], zero beyond num_columns. Groups are products over
// the same A that go to different places (the k^2 pixels of a transposed convolution); all else has one.
struct PackedWeights {
  int64_t num_groups = 1;
  int64_t num_columns = 0;  // N of one group
  int64_t depth = 0;        // K
  int64_t panel_width = 0;  // two vectors of the instruction set that packed them
  int64_t panels_per_group = 0;
  Tensor panels;  // [num_groups * panels_per_group, K, panel_width]
  Tensor bias;    // [num_groups * panels_per_group * panel_width], zeros when the layer has none
};

// Where element (row, group g, column) of the product goes, in floats from `data`:
// (row / run_rows) run_pitch + (row % run_rows) row_pitch + group_offsets[g] + column. A residual lies in the same way.
struct GemmOutput {
  float* data = nullptr;
  const float* residual = nullptr;  // may be `data`: every element is read before it is written, by the same task
  bool relu_residual = false;       // add max(residual, 0)
  Activation activation = Activation::kNone;
  int64_t run_rows = 1;
  int64_t run_pitch = 0;
  int64_t row_pitch = 0;
  std::vector<int64_t> group_offsets = {0};
};

// C = activation(A W^T + bias) + residual. Every element is summed in one order (chunks of kDepthChunk products, the chunks in
// order), whatever block or thread computes it. Scratch memory comes from the activations arena. Throws Error{kInternal} when
// the weights were packed for another instruction set.
void gemm(const PatchRows& a, const PackedWeights& w, const GemmOutput& c, const OpsContext& context);

// Highway's name of the instruction set that this process runs on: "AVX3" is AVX-512.
const char* gemm_target_name();
// Columns of a panel on that instruction set.
int64_t gemm_panel_width();

// panel[k * width + n] = rows[n][k] for the gemm_panel_width() rows of W in `rows`, each K long.
void gemm_pack_panel(const float* const* rows, int64_t depth, float* panel);

}  // namespace pointmap::cpu
