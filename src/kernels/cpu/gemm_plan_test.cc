// The cut of a product into tasks: everything is computed once, and everything fits the scratch it gets.
#include "kernels/cpu/gemm_plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace pointmap::cpu {
namespace {

struct PlanCase {
  int64_t rows, depth, weight_panels, l2_bytes;
};

class GemmPlanTest : public testing::TestWithParam<PlanCase> {};

TEST_P(GemmPlanTest, TasksCoverEveryRowAndPanelOnceAndFitTheScratch) {
  const PlanCase c = GetParam();
  const GemmMachine machine{.tile_rows = 14, .panel_width = 32, .l2_bytes = c.l2_bytes};
  const GemmPlan plan(c.rows, c.depth, c.weight_panels, machine);
  std::vector<int> times_computed(static_cast<size_t>(c.rows * c.weight_panels));
  for (int64_t task = 0; task < plan.num_tasks(); ++task) {
    const RowPanels panels = plan.row_panels(plan.block_of(task));
    ASSERT_GE(panels.count, 1);
    ASSERT_LE(panels.count, RowPanels::kMax);
    EXPECT_LE(panels.count * machine.tile_rows * c.depth, plan.sums_offset());
    EXPECT_LE(plan.sums_offset() + panels.count * machine.tile_rows * machine.panel_width, plan.zeros_offset());
    for (int64_t i = 0; i < panels.count; ++i) {
      EXPECT_GE(panels.rows_of(i), 1);
      EXPECT_LE(panels.rows_of(i), machine.tile_rows);
      for (int64_t row = panels.first_row[i]; row < panels.first_row[i + 1]; ++row) {
        const Range w = plan.weight_panels(task);
        for (int64_t panel = w.begin; panel < w.end; ++panel) ++times_computed[static_cast<size_t>(row * c.weight_panels + panel)];
      }
    }
  }
  for (const int times : times_computed) ASSERT_EQ(times, 1);
  EXPECT_GE(plan.scratch_floats_per_worker(7), plan.zeros_offset() + 7);
  EXPECT_EQ(plan.sums_offset() % 16, 0);  // whole cache lines: the tile loads aligned vectors
  EXPECT_EQ(plan.scratch_floats_per_worker(7) % 16, 0);
}

INSTANTIATE_TEST_SUITE_P(Shapes, GemmPlanTest,
                         testing::Values(PlanCase{1, 1, 1, 1 << 20}, PlanCase{1, 1024, 96, 1 << 20}, PlanCase{13, 5, 3, 1 << 16},
                                         PlanCase{1024, 1024, 32, 2 << 20}, PlanCase{1024, 4096, 32, 2 << 20},
                                         PlanCase{1369, 2304, 8, 1 << 18}, PlanCase{5000, 3, 1, 1 << 21},
                                         PlanCase{15, 100'000, 2, 1 << 16}));

TEST(GemmPlan, FewRowsAreSharedByManyTasks) {
  const GemmPlan plan(8, 1024, 96, {.tile_rows = 14, .panel_width = 32, .l2_bytes = 1 << 20});
  EXPECT_GE(plan.num_tasks(), 12);
}

}  // namespace
}  // namespace pointmap::cpu
