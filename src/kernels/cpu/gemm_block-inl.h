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

}  // namespace pointmap::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {

// Rows of A into panels [row panel][K][kTileRows]. A panel with fewer rows repeats its last one; the tile does not read it.
inline void pack_block(const PatchRows& a, const RowPanels& row_panels, float* packed, float* zeros) {
  const int64_t line_floats = a.kernel_width * a.channels;
  std::fill_n(zeros, line_floats, 0.0f);
  for (int64_t panel = 0; panel < row_panels.count; ++panel) {
    PatchLines lines(a, row_panels.first_row[panel], row_panels.rows_of(panel), kTileRows, zeros);
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

// The columns of C that one panel of W makes.
struct OutputColumns {
  int64_t offset = 0;  // of the first, from the start of a row of C
  int64_t width = 0;   // kPanelWidth but at the right edge
};

inline OutputColumns columns_of(const GemmJob& job, int64_t weight_panel) {
  const int64_t group = weight_panel / job.w.panels_per_group;
  const int64_t column = weight_panel % job.w.panels_per_group * kPanelWidth;
  return {.offset = job.c.group_offsets[static_cast<size_t>(group)] + column, .width = std::min(kPanelWidth, job.w.num_columns - column)};
}

// The rows of C that one tile makes, the columns of one panel of W.
struct OutputTile {
  const GemmOutput& c;
  OutputColumns columns;
  int64_t num_rows;
  const int64_t* row_offsets;
};

// Asks for the line to be ours: a plain prefetch leaves the store waiting for that (9 % of a product with K = 1024, now 4 %).
inline void prefetch_for_writing(const float* line) {
#if HWY_ARCH_X86
  asm volatile("prefetchw %0" ::"m"(*line));  // GCC emits it only for targets with -mprfchw; others of x86-64 ignore it
#else
  __builtin_prefetch(line, 1, 2);
#endif
}

// Fetches part `chunk` of `num_chunks` of a tile of C (and of the residual), so that all of it is there after the last chunk.
inline void prefetch_part(const OutputTile& tile, int64_t chunk, int64_t num_chunks) {
  const int64_t end = tile.num_rows * (chunk + 1) / num_chunks;
  for (int64_t i = tile.num_rows * chunk / num_chunks; i < end; ++i) {
    const int64_t offset = tile.row_offsets[i] + tile.columns.offset;
    for (int64_t n = 0; n < tile.columns.width; n += kFloatsPerLine) {
      prefetch_for_writing(tile.c.data + offset + n);
      if (tile.c.residual != nullptr) __builtin_prefetch(tile.c.residual + offset + n, 0, 2);
    }
  }
}

template <Activation kActivation>
HWY_INLINE void finish_tile(const OutputTile& tile, const float* bias, const float* sums) {
  for (int64_t i = 0; i < tile.num_rows; ++i) {
    const int64_t offset = tile.row_offsets[i] + tile.columns.offset;
    const Residual residual = Residual{tile.c.residual, tile.c.relu_residual}.from(offset);
    finish_row<kActivation>(sums + i * kPanelWidth, bias, residual, tile.columns.width, tile.c.data + offset);
  }
}

// A block of rows, ready to be multiplied.
struct PackedBlock {
  RowPanels row_panels;
  const float* rows = nullptr;                       // [row panel][K][kTileRows]
  float* sums = nullptr;                             // [row panel][kTileRows][kPanelWidth]
  int64_t row_offsets[RowPanels::kMax * kTileRows];  // of its rows in C
};

inline void find_row_offsets(const GemmOutput& c, PackedBlock& block) {
  const RowPanels& panels = block.row_panels;
  for (int64_t row = panels.first_row[0]; row < panels.first_row[panels.count]; ++row) {
    block.row_offsets[row - panels.first_row[0]] = row / c.run_rows * c.run_pitch + row % c.run_rows * c.row_pitch;
  }
}

// Block of A times one panel of W. While the rows pass by a chunk of W, the next one (after the last panel, the first: the next
// block starts there) comes into L2, an equal share of it during every tile. C is written tile by tile with products in between,
// so that the stores drain meanwhile.
template <Activation kActivation>
void multiply_panel(const GemmJob& job, const PackedBlock& block, int64_t weight_panel) {
  const int64_t depth = job.w.depth;
  const RowPanels& panels = block.row_panels;
  const float* all_w = job.w.panels.data<float>();
  const float* all_w_end = all_w + job.w.panels.shape().num_elements();
  const float* w = all_w + weight_panel * depth * kPanelWidth;
  const float* bias = job.w.bias.data<float>() + weight_panel * kPanelWidth;
  const int64_t num_chunks = (depth + kDepthChunk - 1) / kDepthChunk;
  OutputTile output{.c = job.c, .columns = columns_of(job, weight_panel), .num_rows = 0, .row_offsets = nullptr};
  for (int64_t k = 0; k < depth; k += kDepthChunk) {
    const int64_t chunk = std::min(kDepthChunk, depth - k);
    const float* next_w = w + (k + chunk) * kPanelWidth;
    if (next_w == all_w_end) next_w = all_w;
    const float* next_rows = block.rows + (k + chunk < depth ? k + chunk : 0) * kTileRows;  // of the first panel
    TileStep step{.w = w + k * kPanelWidth, .depth = chunk, .first = k == 0};
    step.prefetch_floats = (2 * kPanelWidth + panels.count - 1) / panels.count;
    for (int64_t i = 0; i < panels.count; ++i) {
      output.num_rows = panels.rows_of(i);
      output.row_offsets = block.row_offsets + panels.first_row[i] - panels.first_row[0];
      prefetch_part(output, k / kDepthChunk, num_chunks);
      step.a = block.rows + (i * depth + k) * kTileRows;
      step.next_a = i + 1 < panels.count ? step.a + depth * kTileRows : next_rows;
      step.sums = block.sums + i * kTileRows * kPanelWidth;
      step.prefetch = next_w + i * chunk / 2 * step.prefetch_floats;
      tile_for<1>(output.num_rows)(step);
      if (k + chunk == depth) finish_tile<kActivation>(output, bias, step.sums);
    }
  }
}

// scratch: as the plan lays it out, kept by one worker; packed_block: the block whose rows it holds, or -1.
void multiply_block(const GemmJob& job, int64_t task, float* scratch, int64_t& packed_block) {
  const int64_t index = job.plan.block_of(task);
  PackedBlock block{.row_panels = job.plan.row_panels(index), .rows = scratch, .sums = scratch + job.plan.sums_offset(), .row_offsets = {}};
  if (packed_block != index) {
    pack_block(job.a, block.row_panels, scratch, scratch + job.plan.zeros_offset());
    packed_block = index;
  }
  find_row_offsets(job.c, block);
  const auto multiply = pick_for(job.c.activation, [](auto activation) { return &multiply_panel<activation>; });
  const Range weight_panels = job.plan.weight_panels(task);
  for (int64_t panel = weight_panels.begin; panel < weight_panels.end; ++panel) multiply(job, block, panel);
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
