// GFLOP/s of attention on one thread beside the FMA peak, on every instruction set. A sample is one head of 16 inside packed QKV, in
// CPU time of the thread; peak and kernel take turns. The machine may be shared, so the best samples say what the code can do and
// the median what it did.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "fma_peak.h"
#include "hwy/highway.h"
#include "kernels/cpu/attention.h"
#include "tensor/tensor.h"

namespace pointmap::bench {
namespace {

constexpr int64_t kHeads = 16, kHeadDim = 64, kChannels = kHeads * kHeadDim;

struct Samples {
  std::vector<double> gflops;
  double best() const { return *std::max_element(gflops.begin(), gflops.end()); }
  double median() const {
    std::vector<double> sorted = gflops;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

// fn returns the number of floating-point operations that it did.
void add_sample(Samples& samples, const std::function<double()>& fn) {
  const double begin = thread_cpu_seconds();
  const double flops = fn();
  samples.gflops.push_back(flops / (thread_cpu_seconds() - begin) * 1e-9);
}

void run_case(int64_t num_tokens, int rounds) {
  ThreadPool pool(1);
  Arena arena;
  Tensor qkv(arena, DType::kF32, {1, num_tokens, 3 * kChannels}), y(arena, DType::kF32, {1, num_tokens, kHeadDim});
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::generate_n(qkv.data<float>(), qkv.shape().num_elements(), [&] { return normal(random); });
  Samples kernel, peak;
  for (int round = 0; round < rounds; ++round) {
    const auto head_of = [&](int64_t part) {
      const int64_t channel = part * kChannels + round % kHeads * kHeadDim;
      return qkv.view().slice_last(channel, channel + kHeadDim);
    };
    add_sample(peak, [] { return run_fma_rounds(100'000); });
    add_sample(kernel, [&] {
      cpu::attention(pool, arena, {.q = head_of(0), .k = head_of(1), .v = head_of(2), .num_heads = 1, .scale = 0.125f}, y.data<float>());
      return 4.0 * static_cast<double>(num_tokens * num_tokens * kHeadDim);
    });
  }
  std::printf("  %5ld tokens: best %6.1f GFLOP/s of %6.1f, %4.1f %%; median %6.1f of %6.1f\n", static_cast<long>(num_tokens), kernel.best(),
              peak.best(), 100 * kernel.best() / peak.best(), kernel.median(), peak.median());
}

}  // namespace
}  // namespace pointmap::bench

// bench_attention [target]: for example AVX2.
int main(int argc, char** argv) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (argc > 1 && std::string(argv[1]) != hwy::TargetName(target)) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    std::printf("%s, heads of 64, one thread\n", hwy::TargetName(target));
    const bool slow = target == HWY_SCALAR || target == HWY_EMU128;
    for (const int64_t num_tokens : {768, 1024, 1374, 2748, 6870})
      pointmap::bench::run_case(num_tokens, slow ? 8 : num_tokens > 2000 ? 48 : 160);
  }
}
