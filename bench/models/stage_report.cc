#include "stage_report.h"

#include <algorithm>
#include <cstdio>

#include "../kernels/fma_peak.h"
#include "base/process_memory.h"

namespace pointmap::bench {
namespace {

constexpr int64_t kPeakRounds = 2'000'000;  // some 50 ms
constexpr std::array<const char*, kNumOpKinds> kKinds = {"linear", "attention", "convolution", "other"};

// GFLOP/s of all threads at once.
double measure_peak(ThreadPool& pool) {
  std::vector<double> flops(pool.num_threads());
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const Stopwatch watch;
    pool.parallel_for(pool.num_threads(), [&](size_t task, size_t) { flops[task] = run_fma_rounds(kPeakRounds); });
    double total = 0;
    for (const double f : flops) total += f;
    best = std::max(best, total / watch.elapsed_ms() / 1e6);
  }
  return best;
}

double total_flops(const Ops& ops) {
  double flops = 0;
  for (size_t kind = 0; kind < kNumOpKinds; ++kind) flops += ops.stats(static_cast<OpKind>(kind)).flops;
  return flops;
}

void print_row(const std::string& name, const Measured& m, double peak_gflops) {
  const double gflops = m.flops / m.ms / 1e6;
  std::printf("%-20s %8.3f s %9.1f GFLOP", name.c_str(), m.ms / 1e3, m.flops / 1e9);
  if (m.flops > 0) std::printf(" %7.1f GFLOP/s %5.1f %%", gflops, 100 * gflops / peak_gflops);
  std::printf("\n");
}

}  // namespace

void StageClock::enter(const std::string& stage) {
  stop();
  const auto found = std::ranges::find(stages_, stage, &Stage::name);
  current_ = static_cast<size_t>(found - stages_.begin());
  if (found == stages_.end()) stages_.push_back({stage, {}});
  watch_ = Stopwatch();
}

void StageClock::stop() {
  const double flops = total_flops(ops_);
  if (current_ < stages_.size()) {
    stages_[current_].measured.ms += watch_.elapsed_ms();
    stages_[current_].measured.flops += flops - flops_before_;
  }
  flops_before_ = flops;
  current_ = SIZE_MAX;
}

BenchRun measure_run(Ops& ops, const std::function<void(StageClock&)>& forward) {
  StageClock clock(ops);
  const Stopwatch watch;
  forward(clock);
  clock.stop();
  BenchRun run{.stages = clock.stages(), .kinds = {}, .whole = {.ms = watch.elapsed_ms(), .flops = total_flops(ops)}};
  for (size_t kind = 0; kind < kNumOpKinds; ++kind) {
    const OpStats& stats = ops.stats(static_cast<OpKind>(kind));
    run.kinds[kind] = {.ms = stats.ms, .flops = stats.flops};
  }
  return run;
}

void report_runs(Ops& ops, int num_runs, const std::function<void(StageClock&)>& forward) {
  ThreadPool& pool = ops.context().pool;
  double peak = measure_peak(pool);
  (void)measure_run(ops, forward);
  std::vector<BenchRun> runs;
  for (int i = 0; i < num_runs; ++i) {
    runs.push_back(measure_run(ops, forward));
    peak = std::max(peak, measure_peak(pool));
  }
  std::ranges::sort(runs, {}, [](const BenchRun& run) { return run.whole.ms; });
  const BenchRun& median = runs[runs.size() / 2];
  std::printf("multiply-add peak of all threads, same process: %.1f GFLOP/s\nmedian of %d runs after one warm-up (%.3f to %.3f s)\n\n",
              peak, num_runs, runs.front().whole.ms / 1e3, runs.back().whole.ms / 1e3);
  for (const StageClock::Stage& stage : median.stages) print_row(stage.name, stage.measured, peak);
  print_row("whole", median.whole, peak);
  std::printf("\n");
  for (size_t i = 0; i < kNumOpKinds; ++i) print_row(kKinds[i], median.kinds[i], peak);
}

void report_memory(const OpsContext& context, const MemoryPlan& plan) {
  constexpr double kMega = 1e6;
  const double weights = static_cast<double>(context.weights.bytes_in_use());
  const double activations = static_cast<double>(context.activations.bytes_held());
  const double peak = static_cast<double>(read_process_memory().peak_resident_bytes);
  std::printf("\nmemory, MB: peak resident %.0f = weights %.0f + activations held %.0f (in use at most %.0f) + rest %.0f; predicted %.0f\n",
              peak / kMega, weights / kMega, activations / kMega, static_cast<double>(context.activations.peak_bytes_in_use()) / kMega,
              (peak - weights - activations) / kMega, static_cast<double>(plan.total_bytes()) / kMega);
}

}  // namespace pointmap::bench
