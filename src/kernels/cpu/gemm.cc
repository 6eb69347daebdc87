// Blocking and threading of the product; the vector code is in the -inl files. A task is a block of rows of A, packed into
// the worker's scratch (L2), times a range of panels of W. Per panel of W and chunk of K, all panels of the block's rows pass
// by: the chunk of W (16 KiB with AVX-512) stays in L1 meanwhile.
#include "kernels/cpu/gemm.h"

#include "kernels/cpu/gemm_plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/gemm_block-inl.h"
#include "kernels/cpu/gemm_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {

GemmMachine tile_machine() {
  return {.tile_rows = kTileRows, .panel_width = kPanelWidth};
}

const char* target_name() {
  return hwy::TargetName(HWY_TARGET);
}

void pack_weight_panel(const float* const* rows, int64_t depth, float* panel) {
  pack_transposed<static_cast<int>(kPanelWidth)>(rows, depth, false, panel);
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <string>

#include "base/check.h"
#include "base/cpu_info.h"

namespace pointmap::cpu {

HWY_EXPORT(tile_machine);
HWY_EXPORT(target_name);
HWY_EXPORT(pack_weight_panel);
HWY_EXPORT(multiply_block);

const char* gemm_target_name() {
  return HWY_DYNAMIC_DISPATCH(target_name)();
}

int64_t gemm_panel_width() {
  return HWY_DYNAMIC_DISPATCH(tile_machine)().panel_width;
}

void gemm_pack_panel(const float* const* rows, int64_t depth, float* panel) {
  HWY_DYNAMIC_DISPATCH(pack_weight_panel)(rows, depth, panel);
}

void gemm(const PatchRows& a, const PackedWeights& w, const GemmOutput& c, const OpsContext& context) {
  if (a.num_rows == 0 || w.num_columns == 0) return;
  GemmMachine machine = HWY_DYNAMIC_DISPATCH(tile_machine)();
  machine.l2_bytes = static_cast<int64_t>(l2_cache_bytes());
  if (w.panel_width != machine.panel_width || w.depth != a.depth()) {
    throw Error{kInternal, "gemm: weights of depth " + std::to_string(w.depth) + " in panels of " + std::to_string(w.panel_width) +
                               ", want " + std::to_string(a.depth()) + " and " + std::to_string(machine.panel_width)};
  }
  const GemmPlan plan(a.num_rows, w.depth, w.num_groups * w.panels_per_group, machine);
  const int64_t scratch_floats = plan.scratch_floats_per_worker(a.kernel_width * a.channels);
  const auto num_workers = static_cast<int64_t>(context.pool.num_threads());
  Tensor scratch(context.activations, DType::kF32, {num_workers, scratch_floats});
  std::vector<int64_t> packed_block(static_cast<size_t>(num_workers), -1);  // which block of rows a worker's scratch holds
  const auto multiply = HWY_DYNAMIC_DISPATCH(multiply_block);
  context.pool.parallel_for(static_cast<size_t>(plan.num_tasks()), [&](size_t task, size_t worker) {
    multiply({a, w, c, plan}, static_cast<int64_t>(task), scratch.data<float>() + static_cast<int64_t>(worker) * scratch_floats,
             packed_block[worker]);
  });
}

}  // namespace pointmap::cpu
#endif  // HWY_ONCE
