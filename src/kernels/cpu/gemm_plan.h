// How a product is cut into tasks. The cut depends on shape and machine, not on the threads, and no sum is split by it.
#pragma once

#include <cstdint>

namespace pointmap::cpu {

struct GemmMachine {
  int64_t tile_rows = 0;
  int64_t panel_width = 0;  // columns of a tile
  int64_t l2_bytes = 0;     // of one core
};

struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

// The panels of rows of one block: panel i has rows [first_row[i], first_row[i + 1]).
struct RowPanels {
  static constexpr int64_t kMax = 16;
  int64_t count = 0;
  int64_t first_row[kMax + 1] = {};
  int64_t rows_of(int64_t panel) const { return first_row[panel + 1] - first_row[panel]; }
};

// What a product is cut by.
struct TaskSizes {
  int64_t num_rows = 0;
  int64_t tile_rows = 0;
  int64_t panels_per_block = 1;  // of rows, at most
  int64_t num_weight_panels = 0;
  int64_t min_panels_per_range = 1;  // of W: a task prepares its block unless the task before it did, below this that would show
};

// Rows are cut evenly into panels of at most tile_rows (13 or 14 of 14: no tile is much smaller than the others), panels into
// blocks, and the panels of W into ranges if there are few blocks. Tasks run through the ranges of a block first, so that a worker
// prepares most blocks once.
class TaskGrid {
 public:
  explicit TaskGrid(const TaskSizes& sizes);

  int64_t num_tasks() const { return num_blocks_ * num_weight_ranges_; }
  int64_t block_of(int64_t task) const { return task / num_weight_ranges_; }
  RowPanels row_panels(int64_t block) const;
  Range weight_panels(int64_t task) const;

 private:
  TaskSizes sizes_;
  int64_t num_row_panels_;
  int64_t num_blocks_;
  int64_t num_weight_ranges_;
};

// Blocks are as many rows as fit into L2 once packed.
class GemmPlan : public TaskGrid {
 public:
  GemmPlan(int64_t num_rows, int64_t depth, int64_t num_weight_panels, const GemmMachine& machine);

  // Scratch of a worker, in floats from its start: packed rows, sums of a block for one panel of W, zeros for padding.
  int64_t sums_offset() const { return sums_offset_; }
  int64_t zeros_offset() const { return zeros_offset_; }
  int64_t scratch_floats_per_worker(int64_t num_zeros) const;

 private:
  int64_t sums_offset_;
  int64_t zeros_offset_;
};

inline constexpr int64_t kFloatsPerLine = 16;

inline int64_t divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace pointmap::cpu
