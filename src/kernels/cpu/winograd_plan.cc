#include "kernels/cpu/winograd_plan.h"

#include <algorithm>

namespace pointmap::cpu {
namespace {

// A task transforms its block's patches, a twentieth of the work of eight panels.
constexpr int64_t kMinPanelsPerRange = 4;
// All tiles of a block share the weights. Where these come from L3, few tiles would have the core wait for them, even if L2 does not
// hold the patches of so many; where L2 holds them beside the patches, small blocks are better (518^2, 128 -> 32: 14 to 28 tiles
// 213 to 217 % of direct products' peak, 84 tiles 170 %).
constexpr int64_t kMinTilesOfStreamedWeights = 42;

int64_t panels_per_block(int64_t num_tiles, const WinogradSizes& sizes, const GemmMachine& machine) {
  const int64_t point_bytes = sizes.in_channels * kNumPoints * static_cast<int64_t>(sizeof(float));
  const int64_t panel_bytes = machine.tile_rows * point_bytes;
  const int64_t weight_bytes = sizes.num_weight_panels * machine.panel_width * point_bytes;
  const bool weights_stay = weight_bytes <= machine.l2_bytes / 2;
  const int64_t wanted = weights_stay ? std::clamp(machine.l2_bytes / 4 / panel_bytes, int64_t{1}, RowPanels::kMax)
                                      : std::clamp(machine.l2_bytes / 5 * 4 / panel_bytes,
                                                   divide_up(kMinTilesOfStreamedWeights, machine.tile_rows), RowPanels::kMax);
  return std::min(wanted, divide_up(num_tiles, machine.tile_rows));  // no scratch for more than there is
}

}  // namespace

WinogradPlan::WinogradPlan(int64_t num_tiles, const WinogradSizes& sizes, const GemmMachine& machine)
    : TaskGrid({.num_rows = num_tiles,
                .tile_rows = machine.tile_rows,
                .panels_per_block = panels_per_block(num_tiles, sizes, machine),
                .num_weight_panels = sizes.num_weight_panels,
                .min_panels_per_range = kMinPanelsPerRange}) {
  const int64_t num_panels = panels_per_block(num_tiles, sizes, machine);
  patch_point_pitch_ = (divide_up(sizes.in_channels * machine.tile_rows, kFloatsPerLine) + 1) * kFloatsPerLine;
  sums_point_pitch_ = (divide_up(num_panels * machine.tile_rows * machine.panel_width, kFloatsPerLine) + 1) * kFloatsPerLine;
  sums_offset_ = num_panels * patch_panel_pitch();
  scratch_floats_per_worker_ = zeros_offset() + divide_up(sizes.in_channels, kFloatsPerLine) * kFloatsPerLine;
}

}  // namespace pointmap::cpu
