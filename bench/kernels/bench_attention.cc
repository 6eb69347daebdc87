// GFLOP/s of attention on one thread beside the FMA peak, on every instruction set. The two are measured in turn, in CPU time of the
// thread, and the best of a few rounds counts: the machine may be shared.
#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

#include "fma_peak.h"
#include "hwy/highway.h"
#include "kernels/cpu/attention.h"
#include "tensor/tensor.h"

namespace pointmap::bench {
namespace {

struct Case {
  int64_t num_queries, num_keys, num_heads, head_dim;
};

template <typename Fn>
double gflops(const Fn& fn) {
  const double begin = thread_cpu_seconds();
  const double flops = fn();
  return flops / (thread_cpu_seconds() - begin) * 1e-9;
}

void run_case(const Case& c, int rounds) {
  ThreadPool pool(1);
  Arena arena;
  const int64_t channels = c.num_heads * c.head_dim;
  Tensor q(arena, DType::kF32, {1, c.num_queries, channels}), kv(arena, DType::kF32, {1, c.num_keys, 3 * channels});
  Tensor y(arena, DType::kF32, {1, c.num_queries, channels});
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (Tensor* t : {&q, &kv}) std::generate_n(t->data<float>(), t->shape().num_elements(), [&] { return normal(random); });
  const cpu::AttentionInputs inputs{.q = q,
                                    .k = kv.view().slice_last(channels, 2 * channels),  // as inside packed QKV
                                    .v = kv.view().slice_last(2 * channels, 3 * channels),
                                    .num_heads = c.num_heads,
                                    .scale = 0.125f};
  const double flops = 4.0 * static_cast<double>(c.num_queries * c.num_keys * channels);
  double kernel = 0, peak = 0;
  for (int round = 0; round < rounds; ++round) {
    peak = std::max(peak, gflops([] { return run_fma_rounds(2'000'000); }));
    kernel = std::max(kernel, gflops([&] {
                        cpu::attention(pool, arena, inputs, y.data<float>());
                        return flops;
                      }));
  }
  std::printf("  %5ld x %5ld, %2ld heads of %2ld: %7.1f GFLOP/s, peak %7.1f, %4.1f %%\n", static_cast<long>(c.num_queries),
              static_cast<long>(c.num_keys), static_cast<long>(c.num_heads), static_cast<long>(c.head_dim), kernel, peak,
              100 * kernel / peak);
}

}  // namespace
}  // namespace pointmap::bench

int main() {
  using pointmap::bench::Case;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    std::printf("%s\n", hwy::TargetName(target));
    const bool slow = target == HWY_SCALAR || target == HWY_EMU128;
    for (const Case& c : {Case{768, 768, 16, 64}, Case{1024, 1024, 16, 64}, Case{1374, 1374, 16, 64}, Case{2748, 2748, 4, 64}}) {
      pointmap::bench::run_case(c, slow ? 1 : 7);
    }
  }
}
