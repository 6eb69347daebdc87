// One task of a product: pack a block of rows, multiply it by a range of panels of W. Included once per instruction set.
#if defined(POINTMAP_KERNELS_CPU_GEMM_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POINTMAP_KERNELS_CPU_GEMM_BLOCK_INL_H_
#undef POINTMAP_KERNELS_CPU_GEMM_BLOCK_INL_H_
#else
#define POINTMAP_KERNELS_CPU_GEMM_BLOCK_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/gemm_epilogue-inl.h"
#include "kernels/cpu/gemm_pack-inl.h"
#include "kernels/cpu/gemm_plan.h"
#include "kernels/cpu/gemm_tile-inl.h"
#include "kernels/cpu/patch_rows.h"

#ifndef POINTMAP_KERNELS_CPU_GEMM_JOB_
#define POINTMAP_KERNELS_CPU_GEMM_JOB_
namespace pointmap::cpu {

struct GemmJob {
  const PatchRows& a;
  const PackedWeights& w;
  const GemmOutput& c;
  const GemmPlan& plan;
};

// Products summed in registers before they join the sum in memory: one chain over K = 4096 has an error of several times that of
// 16 short ones. A multiple of 4 keeps the unrolled loop whole.
inline constexpr int64_t kDepthChunk = 256;

}  // namespace pointmap::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {

// Rows of A into panels [row panel][K][kTileRows]. A panel with fewer rows repeats its last one; the tile does not read it.
inline void pack_block(const GemmJob& job, Range row_panels, float* packed, float* zeros) {
  const PatchRows& a = job.a;
  const int64_t line_floats = a.kernel_width * a.channels;
  std::fill_n(zeros, line_floats, 0.0f);
  for (int64_t panel = row_panels.begin; panel < row_panels.end; ++panel) {
    const Range rows = job.plan.rows(panel);
    PatchLines lines(a, rows.begin, rows.size(), kTileRows, zeros);
    for (int64_t ky = 0; ky < a.kernel_height; ++ky) {
      if (lines.find_line(ky)) {
        pack_transposed<kTileRows>(lines.pointers(), line_floats, a.relu, packed);
        packed += line_floats * kTileRows;
        continue;
      }
      for (int64_t kx = 0; kx < a.kernel_width; ++kx) {
        lines.find_pixel(ky, kx);
        pack_transposed<kTileRows>(lines.pointers(), a.channels, a.relu, packed);
        packed += a.channels * kTileRows;
      }
    }
  }
}

// sums [row panel][kTileRows][kPanelWidth] = block of A times one panel of W.
inline void multiply_panel(const GemmJob& job, Range row_panels, const float* packed, const float* w, float* sums) {
  const int64_t depth = job.w.depth;
  for (int64_t k = 0; k < depth; k += kDepthChunk) {
    const int64_t chunk = std::min(kDepthChunk, depth - k);
    for (int64_t i = 0; i < row_panels.size(); ++i) {
      const int64_t rows = job.plan.rows(row_panels.begin + i).size();
      tile_for(rows)(packed + (i * depth + k) * kTileRows, w + k * kPanelWidth, chunk, k == 0, sums + i * kTileRows * kPanelWidth);
    }
  }
}

template <Activation kActivation>
void finish_panel(const GemmJob& job, Range row_panels, int64_t weight_panel, const float* sums) {
  const GemmOutput& c = job.c;
  const int64_t group = weight_panel / job.w.panels_per_group;
  const int64_t column = weight_panel % job.w.panels_per_group * kPanelWidth;
  const int64_t width = std::min(kPanelWidth, job.w.num_columns - column);
  const int64_t group_offset = c.group_offsets[static_cast<size_t>(group)] + column;
  const float* bias = job.w.bias.data<float>() + weight_panel * kPanelWidth;
  for (int64_t panel = row_panels.begin; panel < row_panels.end; ++panel, sums += kTileRows * kPanelWidth) {
    const Range rows = job.plan.rows(panel);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const int64_t offset = row / c.run_rows * c.run_pitch + row % c.run_rows * c.row_pitch + group_offset;
      const float* residual = c.residual == nullptr ? nullptr : c.residual + offset;
      finish_row<kActivation>(sums + (row - rows.begin) * kPanelWidth, bias, residual, width, c.data + offset);
    }
  }
}

// scratch: as the plan lays it out, kept by one worker; packed_block: the block whose rows it holds, or -1.
void multiply_block(const GemmJob& job, int64_t task, float* scratch, int64_t& packed_block) {
  const int64_t block = job.plan.block_of(task);
  const Range row_panels = job.plan.row_panels(block);
  float* sums = scratch + job.plan.sums_offset();
  if (packed_block != block) {
    pack_block(job, row_panels, scratch, scratch + job.plan.zeros_offset());
    packed_block = block;
  }
  const auto finish = job.c.activation == Activation::kGelu   ? finish_panel<Activation::kGelu>
                      : job.c.activation == Activation::kRelu ? finish_panel<Activation::kRelu>
                                                              : finish_panel<Activation::kNone>;
  const Range weight_panels = job.plan.weight_panels(task);
  for (int64_t panel = weight_panels.begin; panel < weight_panels.end; ++panel) {
    const float* w = job.w.panels.data<float>() + panel * job.w.depth * kPanelWidth;
    multiply_panel(job, row_panels, scratch, w, sums);
    finish(job, row_panels, panel, sums);
  }
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
