// How a Winograd convolution is cut into tasks, and where a task keeps what.
#pragma once

#include <cstdint>

#include "kernels/cpu/gemm_plan.h"
#include "kernels/cpu/winograd_points.h"

namespace pointmap::cpu {

// The maps of a convolution, input and output of one size.
struct WinogradMaps {
  int64_t batch = 0;
  int64_t height = 0;
  int64_t width = 0;

  int64_t tiles_down() const { return divide_up(height, kTileSide); }
  int64_t tiles_across() const { return divide_up(width, kTileSide); }
  int64_t num_tiles() const { return batch * tiles_down() * tiles_across(); }
};

struct WinogradSizes {
  int64_t in_channels = 0;
  int64_t num_weight_panels = 0;
};

// Rows are tiles, in order of image, line of tiles, tile.
class WinogradPlan : public TaskGrid {
 public:
  WinogradPlan(int64_t num_tiles, const WinogradSizes& sizes, const GemmMachine& machine);

  // Scratch of a worker, in floats from its start: patches V [row panel][point], sums M [point], a pixel of zeros. A point is a
  // line longer than its data, since 36 addresses a power of two apart would share a few sets of the caches.
  int64_t patch_point_pitch() const { return patch_point_pitch_; }
  int64_t patch_panel_pitch() const { return kNumPoints * patch_point_pitch_; }
  int64_t sums_point_pitch() const { return sums_point_pitch_; }
  int64_t sums_offset() const { return sums_offset_; }
  int64_t zeros_offset() const { return sums_offset_ + kNumPoints * sums_point_pitch_; }
  int64_t scratch_floats_per_worker() const { return scratch_floats_per_worker_; }

 private:
  int64_t patch_point_pitch_;
  int64_t sums_point_pitch_;
  int64_t sums_offset_;
  int64_t scratch_floats_per_worker_;
};

}  // namespace pointmap::cpu
