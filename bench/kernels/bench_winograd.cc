// Winograd convolutions beside the same ones as implicit products, on one thread: time, and error against sums in double. The two take
// turns with a burst of multiply-adds; times are CPU time of the thread, best and median. See main().
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "fma_peak.h"
#include "hwy/highway.h"
#include "kernels/cpu/cpu_ops.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/pack_weights.h"
#include "kernels/cpu/patch_rows.h"
#include "kernels/cpu/winograd.h"
#include "measure.h"
#include "tensor/tensor.h"

namespace pointmap::bench {
namespace {

constexpr int64_t kBurstRounds = 400'000;

struct ConvShape {
  int64_t size, in_channels, out_channels;
};

struct Error {
  double rms = 0, max = 0;  // relative to the RMS of the output
};

// Of some outputs, spread over the map.
Error error_of(const Tensor& x, const Tensor& w, const Tensor& y, const ConvShape& shape) {
  std::minstd_rand random(3);
  double squares = 0, signal = 0, max = 0;
  constexpr int kSamples = 4000;
  for (int i = 0; i < kSamples; ++i) {
    const auto row = static_cast<int64_t>(random()) % shape.size, column = static_cast<int64_t>(random()) % shape.size;
    const auto o = static_cast<int64_t>(random()) % shape.out_channels;
    double want = 0;
    for (int64_t t = 0; t < 9; ++t) {
      const int64_t yy = row + t / 3 - 1, xx = column + t % 3 - 1;
      if (yy < 0 || yy >= shape.size || xx < 0 || xx >= shape.size) continue;
      for (int64_t c = 0; c < shape.in_channels; ++c) {
        want += static_cast<double>(x.data<float>()[(yy * shape.size + xx) * shape.in_channels + c]) *
                w.data<float>()[(o * shape.in_channels + c) * 9 + t];
      }
    }
    const double error = y.data<float>()[(row * shape.size + column) * shape.out_channels + o] - want;
    squares += error * error;
    signal += want * want;
    max = std::max(max, std::abs(error));
  }
  return {std::sqrt(squares / signal), max / std::sqrt(signal / kSamples)};
}

void run_case(const ConvShape& shape, double seconds) {
  ThreadPool pool(1);
  Arena arena;
  const OpsContext context{pool, arena, arena};
  CpuOps ops(context);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  Tensor x(arena, DType::kF32, {1, shape.size, shape.size, shape.in_channels});
  for (int64_t i = 0; i < x.shape().num_elements(); ++i) x.data<float>()[i] = std::max(0.0f, normal(random));  // rectified, as in networks
  Tensor w(arena, DType::kF32, {shape.out_channels, shape.in_channels, 3, 3});
  for (int64_t i = 0; i < w.shape().num_elements(); ++i) w.data<float>()[i] = normal(random);
  Tensor y_winograd(arena, DType::kF32, {1, shape.size, shape.size, shape.out_channels});
  Tensor y_implicit(arena, DType::kF32, y_winograd.shape());
  const ConvGeometry geometry{.stride = 1, .padding = 1};
  const cpu::PackedWeights winograd = cpu::pack_winograd(w, {}, context), implicit = cpu::pack_weights(cpu::conv_source(w, {}), context);
  const auto packed = ops.pack_conv2d(w, {}, geometry);  // for its description
  const cpu::PatchRows rows = cpu::conv_patches(x, *packed, false);
  const cpu::GemmOutput output{
      .data = y_implicit.data<float>(), .run_rows = rows.num_rows, .row_pitch = shape.out_channels, .group_offsets = {0}};
  std::vector<Candidate> candidates = {{"peak", [] { run_fma_rounds(kBurstRounds); }},
                                       {"winograd", [&] { cpu::winograd_conv(x, winograd, {}, y_winograd, context); }},
                                       {"implicit", [&] { cpu::gemm(rows, implicit, output, context); }}};
  measure(candidates, Clock::kThreadCpu, seconds);
  const double flops = 18.0 * static_cast<double>(shape.size * shape.size * shape.in_channels * shape.out_channels);
  const double peak = run_fma_rounds(kBurstRounds) / candidates[0].best() * 1e-9;
  const auto share = [&](const Candidate& c) { return 100 * flops / c.best() * 1e-9 / peak; };
  const Error a = error_of(x, w, y_winograd, shape), b = error_of(x, w, y_implicit, shape);
  std::printf("| %3ld^2, %3ld -> %3ld | %7.2f (%7.2f) %3.0f %% | %7.2f (%7.2f) %3.0f %% | %4.2f (%4.2f) | %.1e %.1e | %.1e %.1e |\n",
              static_cast<long>(shape.size), static_cast<long>(shape.in_channels), static_cast<long>(shape.out_channels),
              candidates[1].best() * 1e3, candidates[1].median() * 1e3, share(candidates[1]), candidates[2].best() * 1e3,
              candidates[2].median() * 1e3, share(candidates[2]), candidates[2].best() / candidates[1].best(),
              candidates[2].median() / candidates[1].median(), a.rms, a.max, b.rms, b.max);
  std::fflush(stdout);
}

}  // namespace
}  // namespace pointmap::bench

// bench_winograd [target [seconds]]: for example AVX2, and the time for one shape.
int main(int argc, char** argv) {
  const double seconds = argc > 2 ? std::atof(argv[2]) : 1;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (argc > 1 ? std::string(argv[1]) != hwy::TargetName(target) : target != HWY_AVX3 && target != HWY_AVX2) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    std::printf(
        "%s, one thread: ms best (median), share of the peak counting direct products; ratio; relative error rms, max\n"
        "| shape | Winograd | implicit | ratio | error Winograd | error implicit |\n",
        hwy::TargetName(target));
    for (const pointmap::bench::ConvShape& shape : std::vector<pointmap::bench::ConvShape>{{19, 256, 256},
                                                                                           {37, 256, 256},
                                                                                           {74, 256, 256},
                                                                                           {148, 256, 256},
                                                                                           {74, 512, 256},
                                                                                           {296, 256, 128},
                                                                                           {518, 128, 32},
                                                                                           {144, 96, 256}}) {
      pointmap::bench::run_case(shape, seconds);
    }
  }
}
