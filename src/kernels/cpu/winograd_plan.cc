#include "kernels/cpu/winograd_plan.h"

#include <algorithm>

namespace pointmap::cpu {
namespace {

// A task transforms its block's patches, a twentieth of the work of eight panels.
constexpr int64_t kMinPanelsPerRange = 4;
// All tiles of a block share the weights, which come from L3: with fewer tiles they are what the core waits for, even where L2
// does not hold the patches of so many.
constexpr int64_t kMinTiles = 42;

int64_t panels_per_block(int64_t num_tiles, int64_t in_channels, const GemmMachine& machine) {
  const int64_t panel_bytes = machine.tile_rows * kNumPoints * in_channels * static_cast<int64_t>(sizeof(float));
  const int64_t wanted = std::clamp(machine.l2_bytes / 5 * 4 / panel_bytes, divide_up(kMinTiles, machine.tile_rows), RowPanels::kMax);
  return std::min(wanted, divide_up(num_tiles, machine.tile_rows));  // no scratch for more than there is
}

}  // namespace

WinogradPlan::WinogradPlan(int64_t num_tiles, int64_t in_channels, int64_t num_weight_panels, const GemmMachine& machine)
    : TaskGrid({.num_rows = num_tiles,
                .tile_rows = machine.tile_rows,
                .panels_per_block = panels_per_block(num_tiles, in_channels, machine),
                .num_weight_panels = num_weight_panels,
                .min_panels_per_range = kMinPanelsPerRange}) {
  const int64_t num_panels = panels_per_block(num_tiles, in_channels, machine);
  patch_point_pitch_ = (divide_up(in_channels * machine.tile_rows, kFloatsPerLine) + 1) * kFloatsPerLine;
  sums_point_pitch_ = (divide_up(num_panels * machine.tile_rows * machine.panel_width, kFloatsPerLine) + 1) * kFloatsPerLine;
  sums_offset_ = num_panels * patch_panel_pitch();
  scratch_floats_per_worker_ = zeros_offset() + divide_up(in_channels, kFloatsPerLine) * kFloatsPerLine;
}

}  // namespace pointmap::cpu
