// A whole forward pass, stage by stage: seconds, GFLOP/s and the share of what the multiply-add units gave in the same process.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../kernels/fma_peak.h"
#include "base/cpu_info.h"
#include "base/process_memory.h"
#include "base/stopwatch.h"
#include "kernels/make_ops.h"
#include "recon/memory_plan.h"
#include "recon/model_loader.h"

namespace pointmap {
namespace {

struct Measured {
  double ms = 0;
  double flops = 0;
};

constexpr int64_t kPeakRounds = 2'000'000;  // some 50 ms

// GFLOP/s of all threads at once.
double measure_peak(ThreadPool& pool) {
  std::vector<double> flops(pool.num_threads());
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const Stopwatch watch;
    pool.parallel_for(pool.num_threads(), [&](size_t task, size_t) { flops[task] = bench::run_fma_rounds(kPeakRounds); });
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

constexpr std::array<const char*, 4> kStages = {"encoder (2 views)", "decoder (2 views)", "head 1", "head 2"};
constexpr std::array<const char*, kNumOpKinds> kKinds = {"linear", "attention", "convolution", "other"};

struct Run {
  std::array<Measured, kStages.size()> stages;
  std::array<Measured, kNumOpKinds> kinds;
  double ms = 0;
  double flops = 0;
};

Run run_once(Ops& ops, const Dust3r& model, TensorView image1, TensorView image2) {
  Run run;
  ops.reset_stats();
  const Stopwatch whole;
  Stopwatch watch;
  double flops_before = 0;
  const auto stage_done = [&](size_t stage) {
    run.stages[stage] = {.ms = watch.lap_ms(), .flops = total_flops(ops) - flops_before};
    flops_before = total_flops(ops);
  };
  const EncodedPair encoded = model.encode_pair(ops, image1, image2, {});
  stage_done(0);
  const auto decoded = model.decode(ops, encoded.features, {model.grid_of(image1), model.grid_of(image2)}, {});
  stage_done(1);
  for (size_t v = 0; v < 2; ++v) {
    (void)model.head(ops, v, encoded.features[v], decoded[v]);
    stage_done(2 + v);
  }
  run.ms = whole.elapsed_ms();
  run.flops = total_flops(ops);
  for (size_t kind = 0; kind < kNumOpKinds; ++kind) {
    const OpStats& stats = ops.stats(static_cast<OpKind>(kind));
    run.kinds[kind] = {.ms = stats.ms, .flops = stats.flops};
  }
  return run;
}

void print_row(const char* name, const Measured& m, double peak_gflops) {
  const double gflops = m.flops / m.ms / 1e6;
  std::printf("%-20s %8.3f s %9.1f GFLOP", name, m.ms / 1e3, m.flops / 1e9);
  if (m.flops > 0) std::printf(" %7.1f GFLOP/s %5.1f %%", gflops, 100 * gflops / peak_gflops);
  std::printf("\n");
}

void print_memory(const ModelInspection& model, const OpsContext& context, PatchGrid grid) {
  const ProcessMemory memory = read_process_memory();
  const MemoryPlan plan = plan_dust3r(model.config, model.info.num_parameters, {grid, grid}, 0);
  constexpr double kMega = 1e6;
  const double weights = static_cast<double>(context.weights.bytes_in_use());
  const double activations = static_cast<double>(context.activations.bytes_held());
  const double peak = static_cast<double>(memory.peak_resident_bytes);
  std::printf("\nmemory, MB: peak resident %.0f = weights %.0f + activations held %.0f (in use at most %.0f) + rest %.0f; predicted %.0f\n",
              peak / kMega, weights / kMega, activations / kMega, static_cast<double>(context.activations.peak_bytes_in_use()) / kMega,
              (peak - weights - activations) / kMega, static_cast<double>(plan.total_bytes()) / kMega);
}

int bench_model(const std::string& name, int64_t width, int64_t height, int num_runs) {
  const CpuInfo cpu = read_cpu_info();
  ThreadPool pool(static_cast<size_t>(cpu.available_cores));
  Arena weights;
  Arena activations;
  const OpsContext context{pool, weights, activations};
  const std::unique_ptr<Ops> ops = make_ops(Device::kCpu, context);
  const ModelInspection inspection = inspect(name);
  Stopwatch watch;
  const std::unique_ptr<Dust3r> model = OpenedModel::open(name).load(*ops, {});
  activations.trim();
  std::printf("%s, two views of %ldx%ld, %s, %zu threads, %s\nload %.2f s\n", name.c_str(), static_cast<long>(width),
              static_cast<long>(height), std::string(ops->name()).c_str(), pool.num_threads(), cpu.model_name.c_str(),
              watch.elapsed_ms() / 1e3);
  const auto image = [&](float value) {
    Tensor t(activations, DType::kF32, {1, height, width, 3});
    for (int64_t i = 0; i < t.shape().num_elements(); ++i) t.data<float>()[i] = value * static_cast<float>(i % 251) / 251.0f;
    return t;
  };
  const Tensor image1 = image(1.0f);
  const Tensor image2 = image(-1.0f);
  double peak = measure_peak(pool);
  (void)run_once(*ops, *model, image1, image2);
  std::vector<Run> runs;
  for (int i = 0; i < num_runs; ++i) {
    runs.push_back(run_once(*ops, *model, image1, image2));
    peak = std::max(peak, measure_peak(pool));
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.ms < b.ms; });
  const Run& median = runs[runs.size() / 2];
  std::printf("multiply-add peak of all threads, same process: %.1f GFLOP/s\nmedian of %d runs after one warm-up (%.3f to %.3f s)\n\n",
              peak, num_runs, runs.front().ms / 1e3, runs.back().ms / 1e3);
  for (size_t i = 0; i < kStages.size(); ++i) print_row(kStages[i], median.stages[i], peak);
  print_row("whole", {.ms = median.ms, .flops = median.flops}, peak);
  std::printf("\n");
  for (size_t i = 0; i < kNumOpKinds; ++i) print_row(kKinds[i], median.kinds[i], peak);
  print_memory(inspection, context, model->grid_of(image1));
  return 0;
}

}  // namespace
}  // namespace pointmap

// bench_models [MODEL [WIDTH HEIGHT [RUNS]]]
int main(int argc, char** argv) {
  const std::string model = argc > 1 ? argv[1] : "synthetic:dust3r-512-dpt";
  const int64_t width = argc > 3 ? std::atoll(argv[2]) : 512;
  const int64_t height = argc > 3 ? std::atoll(argv[3]) : 512;
  const int num_runs = argc > 4 ? std::atoi(argv[4]) : 3;
  try {
    return pointmap::bench_model(model, width, height, std::max(1, num_runs));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_models: %s\n", error.what());
    return 1;
  }
}
