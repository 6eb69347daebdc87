#include "kernels/cpu/gemm_plan.h"

#include <algorithm>

#include "base/check.h"

namespace pointmap::cpu {
namespace {

// Enough tasks that a static split over the threads is even; more blocks than this need no ranges of W.
constexpr int64_t kWantedTasks = 256;
// A task packs its block unless the task before it did: below this number of panels that would show.
constexpr int64_t kMinPanelsPerRange = 8;
constexpr int64_t kFloatsPerLine = 16;

int64_t divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

Range part(int64_t total, int64_t index, int64_t parts) {
  return {.begin = total * index / parts, .end = total * (index + 1) / parts};
}

}  // namespace

GemmPlan::GemmPlan(int64_t num_rows, int64_t depth, int64_t num_weight_panels, const GemmMachine& machine)
    : num_rows_(num_rows), num_row_panels_(divide_up(num_rows, machine.tile_rows)), num_weight_panels_(num_weight_panels) {
  const int64_t panel_floats = machine.tile_rows * depth;
  // Rows of a block share every chunk of W that comes from far away: more is better, until 12 to 16 panels. A quarter is left for chunks of
  // W and for C.
  const int64_t fitting_panels = machine.l2_bytes / 4 * 3 / (panel_floats * static_cast<int64_t>(sizeof(float)));
  const int64_t panels_per_block = std::clamp(fitting_panels, int64_t{1}, RowPanels::kMax);
  num_blocks_ = divide_up(num_row_panels_, panels_per_block);
  num_weight_ranges_ = std::clamp(kWantedTasks / num_blocks_, int64_t{1}, divide_up(num_weight_panels, kMinPanelsPerRange));
  const int64_t packed_floats = panels_per_block * panel_floats + kFloatsPerLine;  // a line: the packing's overrun
  sums_offset_ = divide_up(packed_floats, kFloatsPerLine) * kFloatsPerLine;
  zeros_offset_ = sums_offset_ + panels_per_block * machine.tile_rows * machine.panel_width;
}

RowPanels GemmPlan::row_panels(int64_t block) const {
  const Range panels = part(num_row_panels_, block, num_blocks_);
  RowPanels rows{.count = panels.size()};
  for (int64_t i = 0; i <= rows.count; ++i) rows.first_row[i] = num_rows_ * (panels.begin + i) / num_row_panels_;
  return rows;
}

Range GemmPlan::weight_panels(int64_t task) const {
  return part(num_weight_panels_, task % num_weight_ranges_, num_weight_ranges_);
}

int64_t GemmPlan::scratch_floats_per_worker(int64_t num_zeros) const {
  return divide_up(zeros_offset_ + num_zeros, kFloatsPerLine) * kFloatsPerLine;
}

}  // namespace pointmap::cpu
