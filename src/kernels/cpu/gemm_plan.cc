#include "kernels/cpu/gemm_plan.h"

#include <algorithm>

#include "base/check.h"

namespace pointmap::cpu {
namespace {

// Enough tasks that a static split over the threads is even; more blocks than this need no ranges of W.
constexpr int64_t kWantedTasks = 256;
constexpr int64_t kMinPanelsPerRange = 8;

Range part(int64_t total, int64_t index, int64_t parts) {
  return {.begin = total * index / parts, .end = total * (index + 1) / parts};
}

// Rows of a block share every chunk of W that comes from far away: more is better, until 12 to 16 panels. A quarter of L2 is left
// for chunks of W and for C.
int64_t panels_that_fit(int64_t depth, const GemmMachine& machine) {
  const int64_t panel_bytes = machine.tile_rows * depth * static_cast<int64_t>(sizeof(float));
  return std::clamp(machine.l2_bytes / 4 * 3 / panel_bytes, int64_t{1}, RowPanels::kMax);
}

}  // namespace

TaskGrid::TaskGrid(const TaskSizes& sizes) : sizes_(sizes), num_row_panels_(divide_up(sizes.num_rows, sizes.tile_rows)) {
  POINTMAP_DCHECK(sizes.panels_per_block >= 1 && sizes.panels_per_block <= RowPanels::kMax);
  num_blocks_ = divide_up(num_row_panels_, sizes.panels_per_block);
  num_weight_ranges_ = std::clamp(kWantedTasks / num_blocks_, int64_t{1}, divide_up(sizes.num_weight_panels, sizes.min_panels_per_range));
}

RowPanels TaskGrid::row_panels(int64_t block) const {
  const Range panels = part(num_row_panels_, block, num_blocks_);
  RowPanels rows{.count = panels.size()};
  for (int64_t i = 0; i <= rows.count; ++i) rows.first_row[i] = sizes_.num_rows * (panels.begin + i) / num_row_panels_;
  return rows;
}

Range TaskGrid::weight_panels(int64_t task) const {
  return part(sizes_.num_weight_panels, task % num_weight_ranges_, num_weight_ranges_);
}

GemmPlan::GemmPlan(int64_t num_rows, int64_t depth, int64_t num_weight_panels, const GemmMachine& machine)
    : TaskGrid({.num_rows = num_rows,
                .tile_rows = machine.tile_rows,
                .panels_per_block = panels_that_fit(depth, machine),
                .num_weight_panels = num_weight_panels,
                .min_panels_per_range = kMinPanelsPerRange}) {
  const int64_t block_rows = panels_that_fit(depth, machine) * machine.tile_rows;
  const int64_t packed_floats = block_rows * depth + kFloatsPerLine;  // a line: the packing's overrun
  sums_offset_ = divide_up(packed_floats, kFloatsPerLine) * kFloatsPerLine;
  zeros_offset_ = sums_offset_ + block_rows * machine.panel_width;
}

int64_t GemmPlan::scratch_floats_per_worker(int64_t num_zeros) const {
  return divide_up(zeros_offset_ + num_zeros, kFloatsPerLine) * kFloatsPerLine;
}

}  // namespace pointmap::cpu
