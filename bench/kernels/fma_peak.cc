#include "fma_peak.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fma_peak.cc"  // NOLINT
#include "hwy/foreach_target.h"           // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace pointmap::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 12 chains cover a latency of 4 to 5 cycles on two ports and fit 16 registers.
double fma_rounds(int64_t rounds) {
  const hn::ScalableTag<float> d;
  constexpr int kChains = 12;
  hn::Vec<decltype(d)> sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = hn::Set(d, static_cast<float>(i));
  const auto factor = hn::Set(d, 0.999f), summand = hn::Set(d, 0.001f);
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) sums[i] = hn::MulAdd(sums[i], factor, summand);
  }
  auto total = sums[0];
  for (int i = 1; i < kChains; ++i) total = hn::Add(total, sums[i]);
  volatile float used = hn::GetLane(total);  // so that the loop is not dropped
  (void)used;
  return 2.0 * kChains * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

}  // namespace pointmap::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <ctime>

namespace pointmap::bench {

HWY_EXPORT(fma_rounds);

double run_fma_rounds(int64_t rounds) {
  return HWY_DYNAMIC_DISPATCH(fma_rounds)(rounds);
}

double thread_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace pointmap::bench
#endif
