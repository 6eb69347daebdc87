// How a product is cut into tasks. The cut depends on the shape alone and no task shares a sum with another.
#pragma once

#include <cstdint>

namespace pointmap::cpu {

struct TileShape {
  int64_t rows = 0;
  int64_t columns = 0;
};

struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

// Rows are cut evenly into panels of at most tile.rows (13 or 14 of 14: no tile is much smaller than the others), panels into
// blocks that fit into L2 once packed, and the panels of W into ranges if there are few blocks. Tasks run through the ranges of
// a block first, so that a worker packs most blocks once.
class GemmPlan {
 public:
  GemmPlan(int64_t num_rows, int64_t depth, int64_t num_weight_panels, TileShape tile);

  int64_t num_tasks() const { return num_blocks_ * num_weight_ranges_; }
  int64_t block_of(int64_t task) const { return task / num_weight_ranges_; }
  Range row_panels(int64_t block) const;
  Range rows(int64_t row_panel) const;
  Range weight_panels(int64_t task) const;

  // Scratch of a worker, in floats from its start: packed rows, sums of a block for one panel of W, zeros for padding.
  int64_t sums_offset() const { return sums_offset_; }
  int64_t zeros_offset() const { return zeros_offset_; }
  int64_t scratch_floats_per_worker(int64_t num_zeros) const;

 private:
  int64_t num_rows_;
  int64_t num_row_panels_;
  int64_t num_blocks_;
  int64_t num_weight_panels_;
  int64_t num_weight_ranges_;
  int64_t sums_offset_;
  int64_t zeros_offset_;
};

}  // namespace pointmap::cpu
