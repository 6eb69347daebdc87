// One task of a Winograd convolution: transform a block of patches, multiply every point by a range of panels of weights, transform
// back. Included once per instruction set, see winograd.cc.
#if defined(POINTMAP_KERNELS_CPU_WINOGRAD_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POINTMAP_KERNELS_CPU_WINOGRAD_BLOCK_INL_H_
#undef POINTMAP_KERNELS_CPU_WINOGRAD_BLOCK_INL_H_
#else
#define POINTMAP_KERNELS_CPU_WINOGRAD_BLOCK_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/cpu/gemm_epilogue-inl.h"
#include "kernels/cpu/gemm_tile-inl.h"
#include "kernels/cpu/winograd_plan.h"
#include "kernels/cpu/winograd_transform-inl.h"

#ifndef POINTMAP_KERNELS_CPU_WINOGRAD_JOB_
#define POINTMAP_KERNELS_CPU_WINOGRAD_JOB_
namespace pointmap::cpu {

struct WinogradJob {
  const WinogradMaps& maps;
  const float* inputs;  // [B, H, W, I]
  int64_t in_channels;
  const PackedWeights& w;
  const ConvOptions& options;
  float* outputs;  // [B, H, W, O]
  const WinogradPlan& plan;
};

// Where a tile lies: its image and the position of its first output.
struct TilePosition {
  int64_t image, y, x;
};

inline TilePosition tile_position(const WinogradMaps& maps, int64_t tile) {
  const int64_t line = tile / maps.tiles_across();
  return {line / maps.tiles_down(), line % maps.tiles_down() * kTileSide, tile % maps.tiles_across() * kTileSide};
}

}  // namespace pointmap::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {

// Depths that lie side by side in a row of a panel of patches: the transform stores vectors as they are.
inline constexpr int kPatchGroup = static_cast<int>(kLanes);

// The pixels of a tile's patch, `zeros` outside of the image.
inline void find_pixels(const WinogradJob& job, int64_t tile, const float* zeros, const float* (&pixels)[kNumPoints]) {
  const TilePosition at = tile_position(job.maps, tile);
  for (int64_t i = 0; i < kNumPoints; ++i) {
    const int64_t y = at.y - 1 + i / kPatchSide, x = at.x - 1 + i % kPatchSide;
    const bool inside = y >= 0 && y < job.maps.height && x >= 0 && x < job.maps.width;
    pixels[i] = inside ? job.inputs + ((at.image * job.maps.height + y) * job.maps.width + x) * job.in_channels : zeros;
  }
}

// The patches of a block into V [row panel][point][I / kPatchGroup][kTileRows][kPatchGroup]. The next tile's pixels come while a
// tile is computed; those it shares with this one have been read.
template <bool kRelu>
void transform_patches(const WinogradJob& job, const RowPanels& panels, float* patches, const float* zeros) {
  const float* pixels[kNumPoints];
  const float* next[kNumPoints];
  const int64_t last_tile = panels.first_row[panels.count] - 1;
  find_pixels(job, panels.first_row[0], zeros, next);
  for (int64_t p = 0; p < panels.count; ++p) {
    float* panel = patches + p * job.plan.patch_panel_pitch();
    for (int64_t tile = panels.first_row[p]; tile < panels.first_row[p + 1]; ++tile) {
      std::copy_n(next, kNumPoints, pixels);
      find_pixels(job, std::min(tile + 1, last_tile), zeros, next);
      float* to = panel + (tile - panels.first_row[p]) * kPatchGroup;
      for (int64_t c = 0; c < job.in_channels; c += kPatchGroup, to += kTileRows * kPatchGroup) {
        if (c % kFloatsPerLine == 0) {
          for (const float* pixel : next) __builtin_prefetch(pixel + c, 0, 3);
        }
        transform_patch<kRelu>(pixels, c, job.plan.patch_point_pitch(), to);
      }
    }
  }
}

// Every point of a block times one panel of weights, into M [point][tile][kPanelWidth], where a row panel has kTileRows tiles.
inline void multiply_points(const WinogradJob& job, const RowPanels& panels, int64_t weight_panel, float* scratch) {
  const int64_t channels = job.in_channels;
  const float* all_w = job.w.panels.data<float>();
  const float* all_w_end = all_w + job.w.panels.shape().num_elements();
  const float* w = all_w + weight_panel * kNumPoints * channels * kPanelWidth;
  float* sums = scratch + job.plan.sums_offset();
  TileStep step;
  step.prefetch_floats = (2 * kPanelWidth + panels.count - 1) / panels.count;
  for (int64_t point = 0; point < kNumPoints; ++point) {
    for (int64_t c = 0; c < channels; c += kDepthChunk) {
      step.depth = std::min(kDepthChunk, channels - c);
      step.first = c == 0;
      step.w = w;
      w += step.depth * kPanelWidth;
      const float* next_w = w == all_w_end ? all_w : w;
      const float* rows = scratch + point * job.plan.patch_point_pitch() + c * kTileRows;
      const float* next_rows = c + step.depth < channels ? rows + step.depth * kTileRows
                               : point + 1 < kNumPoints  ? scratch + (point + 1) * job.plan.patch_point_pitch()
                                                         : scratch;
      for (int64_t p = 0; p < panels.count; ++p) {
        step.a = rows + p * job.plan.patch_panel_pitch();
        step.next_a = p + 1 < panels.count ? step.a + job.plan.patch_panel_pitch() : next_rows;
        step.sums = sums + point * job.plan.sums_point_pitch() + p * kTileRows * kPanelWidth;
        step.prefetch = next_w + p * step.depth / 2 * step.prefetch_floats;
        tile_for<kPatchGroup>(panels.rows_of(p))(step);
      }
    }
  }
}

// kLanes columns of a tile, from `column` on, into the output.
template <Activation kActivation>
HWY_INLINE void finish_tile_vector(const WinogradJob& job, const TilePosition& at, int64_t column, const float* sums) {
  const DF d;
  VF tile[kTileSide][kTileSide];
  transform_sums(sums, job.plan.sums_point_pitch(), tile);
  HWY_ALIGN float pixels[kTileSide * kTileSide * kLanes];
  for (int64_t i = 0; i < kTileSide * kTileSide; ++i) hn::Store(tile[i / kTileSide][i % kTileSide], d, pixels + i * kLanes);
  const int64_t num_columns = job.w.num_columns, width = std::min(kLanes, num_columns - column);
  const VF bias = hn::Load(d, job.w.bias.data<float>() + column);
  const Residual residual{job.options.residual.empty() ? nullptr : job.options.residual.data<float>(), job.options.relu_residual};
  const int64_t lines = std::min(kTileSide, job.maps.height - at.y), across = std::min(kTileSide, job.maps.width - at.x);
  for (int64_t y = 0; y < lines; ++y) {
    int64_t offset = ((at.image * job.maps.height + at.y + y) * job.maps.width + at.x) * num_columns + column;
    for (int64_t x = 0; x < across; ++x, offset += num_columns) {
      const VF sum = hn::Add(hn::Load(d, pixels + (y * kTileSide + x) * kLanes), bias);
      finish_vector<kActivation>(sum, residual.from(offset), width, job.outputs + offset);
    }
  }
}

template <Activation kActivation>
void finish_tiles(const WinogradJob& job, const RowPanels& panels, int64_t weight_panel, const float* sums) {
  for (int64_t p = 0; p < panels.count; ++p) {
    const float* panel_sums = sums + p * kTileRows * kPanelWidth;
    for (int64_t tile = panels.first_row[p]; tile < panels.first_row[p + 1]; ++tile, panel_sums += kPanelWidth) {
      const TilePosition at = tile_position(job.maps, tile);
      for (int64_t n = 0; n < kPanelWidth; n += kLanes) {
        const int64_t column = weight_panel * kPanelWidth + n;
        if (column < job.w.num_columns) finish_tile_vector<kActivation>(job, at, column, panel_sums + n);
      }
    }
  }
}

// scratch: as the plan lays it out, kept by one worker; ready_block: the block whose patches it holds, or -1.
void convolve_block(const WinogradJob& job, int64_t task, float* scratch, int64_t& ready_block) {
  const int64_t index = job.plan.block_of(task);
  const RowPanels panels = job.plan.row_panels(index);
  if (ready_block != index) {
    float* zeros = scratch + job.plan.zeros_offset();
    std::fill_n(zeros, job.in_channels, 0.0f);
    (job.options.relu_input ? transform_patches<true> : transform_patches<false>)(job, panels, scratch, zeros);
    ready_block = index;
  }
  const auto finish = pick_for(job.options.activation, [](auto activation) { return &finish_tiles<activation>; });
  const Range weight_panels = job.plan.weight_panels(task);
  for (int64_t panel = weight_panels.begin; panel < weight_panels.end; ++panel) {
    multiply_points(job, panels, panel, scratch);
    finish(job, panels, panel, scratch + job.plan.sums_offset());
  }
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
