// Threads of a Winograd convolution; the vector code is in the -inl files.
#include "kernels/cpu/winograd.h"

#include "kernels/cpu/winograd_plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/winograd.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/winograd_block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {

int64_t winograd_tile_rows() {
  return kTileRows;
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <string>
#include <vector>

#include "base/check.h"
#include "base/cpu_info.h"

namespace pointmap::cpu {

HWY_EXPORT(winograd_tile_rows);
HWY_EXPORT(convolve_block);

void winograd_conv(TensorView x, const PackedWeights& w, const ConvOptions& options, Tensor& y, const OpsContext& context) {
  const WinogradMaps maps{.batch = x.shape()[0], .height = x.shape()[1], .width = x.shape()[2]};
  const int64_t channels = x.shape()[3];
  if (maps.num_tiles() == 0) return;
  const GemmMachine machine{.tile_rows = HWY_DYNAMIC_DISPATCH(winograd_tile_rows)(),
                            .panel_width = gemm_panel_width(),
                            .l2_bytes = static_cast<int64_t>(l2_cache_bytes())};
  if (w.panel_width != machine.panel_width || w.depth != kNumPoints * channels) {
    throw Error{kInternal, "winograd_conv: weights of depth " + std::to_string(w.depth) + " in panels of " + std::to_string(w.panel_width) +
                               ", want " + std::to_string(kNumPoints * channels) + " and " + std::to_string(machine.panel_width)};
  }
  const WinogradPlan plan(maps.num_tiles(), {.in_channels = channels, .num_weight_panels = w.panels_per_group}, machine);
  const int64_t scratch_floats = plan.scratch_floats_per_worker();
  const auto num_workers = static_cast<int64_t>(context.pool.num_threads());
  Tensor scratch(context.activations, DType::kF32, {num_workers, scratch_floats});
  std::vector<int64_t> ready_block(static_cast<size_t>(num_workers), -1);  // which block of patches a worker's scratch holds
  const auto convolve = HWY_DYNAMIC_DISPATCH(convolve_block);
  const WinogradJob job{maps, x.data<float>(), channels, w, options, y.data<float>(), plan};
  context.pool.parallel_for(static_cast<size_t>(plan.num_tasks()), [&](size_t task, size_t worker) {
    convolve(job, static_cast<int64_t>(task), scratch.data<float>() + static_cast<int64_t>(worker) * scratch_floats, ready_block[worker]);
  });
}

}  // namespace pointmap::cpu
#endif  // HWY_ONCE
