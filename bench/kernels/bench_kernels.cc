// Prints how fast the CPU kernels are, as GFLOP/s and as a share of the multiply-add peak measured in the same minute, beside
// OpenBLAS and oneDNN. See --help.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/cpu_info.h"
#include "base/error.h"
#include "fma_peak.h"
#include "hwy/highway.h"
#include "measure.h"
#include "workloads.h"
#include "yardsticks.h"

namespace pointmap::bench {
namespace {

constexpr int64_t kBurstRounds = 400'000;  // some milliseconds

constexpr const char* kHelp =
    R"(usage: env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE bench_kernels [--seconds S] [--threads T] [--target NAME] [section ...]

Sections: peak gemm vit conv attention; all without arguments. S is the time for one row (default 1), T the
second thread count besides 1 (default: the cores of this machine; 1 for none), NAME an instruction set: AVX3 (AVX-512), AVX2, SSE4.

Rows are measured in turns (A B C A B C ...) with a burst of multiply-adds in every round, the peak of that row. One thread:
CPU time of the thread, so that a neighbour does not count. More threads: wall time. Figures are the best run, the median in brackets.
OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE choose other kernels and block sizes for OpenBLAS than it would itself: unset both
for a fair comparison.
)";

struct Options {
  double seconds = 1;
  size_t threads = 1;
  std::string target = {};
  std::vector<std::string> sections;

  bool wants(const char* section) const {
    if (sections.empty()) return true;
    for (const std::string& s : sections) {
      if (s == section) return true;
    }
    return false;
  }
};

double gflops(double flops, double seconds) {
  return flops / seconds * 1e-9;
}

// Measures `workloads` in turns with the peak and prints one line.
void print_row(const std::string& label, const std::vector<Workload>& workloads, const Options& options, size_t num_threads) {
  static const double burst_flops = run_fma_rounds(kBurstRounds);
  std::vector<Candidate> candidates = {{"peak", [] { run_fma_rounds(kBurstRounds); }}};
  for (const Workload& workload : workloads) candidates.push_back({workload.name, workload.run});
  measure(candidates, num_threads == 1 ? Clock::kThreadCpu : Clock::kWall, options.seconds);
  // The burst runs on one thread: a neighbour on its core shows in wall time, hence the best of all bursts.
  const double peak = gflops(burst_flops, candidates[0].best()) * static_cast<double>(num_threads);
  std::printf("| %-46s | %zu | %6.0f |", label.c_str(), num_threads, peak);
  for (size_t i = 0; i < workloads.size(); ++i) {
    const double best = gflops(workloads[i].flops, candidates[i + 1].best());
    const double median = gflops(workloads[i].flops, candidates[i + 1].median());
    std::printf(" %6.1f (%6.1f) %4.0f %% |", best, median, 100 * best / peak);
  }
  if (workloads.size() == 1) std::printf(" %9.2f ms |", candidates[1].best() * 1e3);
  std::printf("\n");
  std::fflush(stdout);
}

void print_header(const char* title, const std::vector<std::string>& columns) {
  std::printf("\n%s\n| %-46s | T |   peak |", title, "");
  for (const std::string& column : columns) std::printf(" %-22s |", column.c_str());
  std::printf("\n");
}

void print_peak() {
  const CpuInfo cpu = read_cpu_info();
  std::printf("%s, %d cores\n\nmultiply-add peak of one thread (SSE4 and SCALAR multiply and add apart):\n", cpu.model_name.c_str(),
              cpu.available_cores);
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    std::vector<Candidate> burst = {{"peak", [] { run_fma_rounds(kBurstRounds); }}};
    measure(burst, Clock::kThreadCpu, 0.2);
    std::printf("  %-8s %6.1f GFLOP/s\n", hwy::TargetName(target), gflops(run_fma_rounds(kBurstRounds), burst[0].best()));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

void bench_gemm(const Options& options, const std::vector<size_t>& thread_counts) {
  const std::vector<Yardstick> yardsticks = {openblas_yardstick(), onednn_yardstick()};
  std::vector<std::string> columns = {"pointmap"};
  for (const Yardstick& yardstick : yardsticks) {
    if (yardstick.missing.empty()) {
      columns.push_back(yardstick.name);
    } else {
      std::printf("\nno %s: %s\n", yardstick.name.c_str(), yardstick.missing.c_str());
    }
  }
  print_header("products M x N x K, GFLOP/s", columns);
  const GemmShape shapes[] = {{768, 3072, 1024}, {768, 1024, 1024}, {768, 4096, 1024}, {768, 1024, 4096},
                              {1374, 1374, 64},  {1374, 64, 1374},  {1369, 256, 2304}};
  for (const size_t threads : thread_counts) {
    Bench bench(threads);
    for (const GemmShape& shape : shapes) {
      std::vector<Workload> workloads = {product(bench, shape)};
      for (const Yardstick& yardstick : yardsticks) {
        if (!yardstick.missing.empty()) continue;
        yardstick.set_threads(static_cast<int>(threads));
        workloads.push_back(product_of(yardstick, bench, shape));
      }
      print_row(std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + " x " + std::to_string(shape.depth), workloads,
                options, threads);
    }
  }
}

void print_workload(const Workload& workload, const Options& options, size_t threads) {
  print_row(workload.name, {workload}, options, threads);
}

void bench_vit(const Options& options, const std::vector<size_t>& thread_counts) {
  print_header("linear layers of ViT-L (1024) and of the decoder (768), GFLOP/s", {"pointmap"});
  for (const size_t threads : thread_counts) {
    Bench bench(threads);
    const GemmShape shapes[] = {{1024, 3072, 1024}, {1024, 1024, 1024}, {1024, 4096, 1024}, {1024, 1024, 4096}, {2048, 4096, 1024},
                                {1024, 2304, 768},  {1024, 768, 768},   {1024, 3072, 768},  {1024, 768, 3072}};
    for (const GemmShape& shape : shapes) {
      Workload workload = product(bench, shape);
      workload.name = std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + " x " + std::to_string(shape.depth);
      print_workload(workload, options, threads);
    }
    // 600 MB of weights: more than the caches hold.
    print_workload(transformer_linears(bench, 1024, 1024, 12), options, threads);
  }
}

void bench_conv(const Options& options, const std::vector<size_t>& thread_counts) {
  print_header("convolutions, NHWC, GFLOP/s", {"pointmap"});
  for (const size_t threads : thread_counts) {
    Bench bench(threads);
    print_workload(convolution(bench, 128, 256, 256, 3), options, threads);
    print_workload(convolution(bench, 256, 256, 256, 3), options, threads);
    print_workload(convolution(bench, 256, 256, 128, 3), options, threads);
    print_workload(convolution(bench, 512, 128, 128, 3), options, threads);
    print_workload(convolution(bench, 512, 128, 4, 1), options, threads);
    print_workload(convolution(bench, 64, 256, 256, 1), options, threads);
    print_workload(patch_embedding(bench, 512), options, threads);
    print_workload(transposed_convolution(bench, 32, 96, 4), options, threads);
    print_workload(transposed_convolution(bench, 32, 192, 2), options, threads);
  }
}

void bench_attention(const Options& options, const std::vector<size_t>& thread_counts) {
  print_header("attention, GFLOP/s of its two products", {"pointmap"});
  for (const size_t threads : thread_counts) {
    Bench bench(threads);
    for (const int64_t tokens : {768, 1024, 1374, 2048}) print_workload(attention(bench, tokens, 16), options, threads);
    print_workload(attention(bench, 1024, 12), options, threads);
  }
}

// Makes the kernels, and the peak, use one instruction set.
void force_target(const std::string& name) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (name != hwy::TargetName(target)) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    return;
  }
  throw Error{kInvalidArgument, "this machine has no instruction set '" + name + "'"};
}

int run(const Options& options) {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr || std::getenv("OPENBLAS_L2_SIZE") != nullptr) {
    std::printf("note: OPENBLAS_CORETYPE or OPENBLAS_L2_SIZE is set, OpenBLAS is not at its best; see --help\n");
  }
  if (!options.target.empty()) force_target(options.target);
  std::vector<size_t> thread_counts = {1};
  if (options.threads > 1) thread_counts.push_back(options.threads);
  if (options.wants("peak")) print_peak();
  if (options.wants("gemm")) bench_gemm(options, thread_counts);
  if (options.wants("vit")) bench_vit(options, thread_counts);
  if (options.wants("conv")) bench_conv(options, thread_counts);
  if (options.wants("attention")) bench_attention(options, thread_counts);
  return 0;
}

}  // namespace
}  // namespace pointmap::bench

int main(int argc, char** argv) {
  pointmap::bench::Options options{.threads = static_cast<size_t>(pointmap::read_cpu_info().available_cores), .sections = {}};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--seconds" && i + 1 < argc) {
      options.seconds = std::atof(argv[++i]);
    } else if (argument == "--threads" && i + 1 < argc) {
      options.threads = static_cast<size_t>(std::max(1, std::atoi(argv[++i])));
    } else if (argument == "--target" && i + 1 < argc) {
      options.target = argv[++i];
    } else if (argument.rfind("--", 0) == 0) {
      std::fputs(pointmap::bench::kHelp, argument == "--help" ? stdout : stderr);
      return argument == "--help" ? 0 : 2;
    } else {
      options.sections.push_back(argument);
    }
  }
  try {
    return pointmap::bench::run(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_kernels: %s\n", e.what());
    return 1;
  }
}
