// A whole forward pass, stage by stage: seconds, GFLOP/s and the share of what the multiply-add units gave in the same process.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/cpu_info.h"
#include "base/stopwatch.h"
#include "kernels/make_ops.h"
#include "recon/memory_plan.h"
#include "recon/model_loader.h"
#include "stage_report.h"

namespace pointmap::bench {
namespace {

struct Options {
  std::string model;
  int64_t width = 0;
  int64_t height = 0;
  int num_runs = 3;
  int num_frames = 2;
};

// What models run on.
struct Machine {
  CpuInfo cpu = read_cpu_info();
  ThreadPool pool{static_cast<size_t>(cpu.available_cores)};
  Arena weights;
  Arena activations;
  OpsContext context{pool, weights, activations};
  std::unique_ptr<Ops> ops = make_ops(Device::kCpu, context);

  void print_case(const Options& options, double load_ms) const {
    std::printf("%s, %d views of %ldx%ld, %s, %zu threads, %s\nload %.2f s\n", options.model.c_str(), options.num_frames,
                static_cast<long>(options.width), static_cast<long>(options.height), std::string(ops->name()).c_str(), pool.num_threads(),
                cpu.model_name.c_str(), load_ms / 1e3);
  }
  // Some pattern from 0 to `value`.
  Tensor image(const Options& options, float value) {
    Tensor t(activations, DType::kF32, {1, options.height, options.width, 3});
    for (int64_t i = 0; i < t.shape().num_elements(); ++i) t.data<float>()[i] = value * static_cast<float>(i % 251) / 251.0f;
    return t;
  }
};

// Loads the network, and says what is measured.
template <typename Network>
std::unique_ptr<Network> load(const OpenedModel& opened, const Options& options, Machine& machine) {
  const Stopwatch watch;
  std::unique_ptr<Network> network = opened.load<Network>(*machine.ops, {});
  machine.activations.trim();
  machine.print_case(options, watch.elapsed_ms());
  return network;
}

void bench_dust3r(const OpenedModel& opened, const Options& options) {
  Machine machine;
  Ops& ops = *machine.ops;
  const std::unique_ptr<Dust3r> model = load<Dust3r>(opened, options, machine);
  const Tensor image1 = machine.image(options, 1.0f), image2 = machine.image(options, -1.0f);
  report_runs(ops, options.num_runs, [&](StageClock& clock) {
    clock.enter("encoder (2 views)");
    const EncodedPair encoded = model->encode_pair(ops, image1, image2, {});
    clock.enter("decoder (2 views)");
    const auto decoded = model->decode(ops, encoded.features, {model->grid_of(image1), model->grid_of(image2)}, {});
    for (size_t v = 0; v < 2; ++v) {
      clock.enter("head " + std::to_string(v + 1));
      (void)model->head(ops, v, encoded.features[v], decoded[v]);
    }
  });
  const PatchGrid grid = model->grid_of(image1);
  report_memory(machine.context, plan_dust3r(model->config(), opened.num_parameters(), {grid, grid}, 0));
}

void bench_vggt(const OpenedModel& opened, const Options& options) {
  Machine machine;
  Ops& ops = *machine.ops;
  const std::unique_ptr<Vggt> model = load<Vggt>(opened, options, machine);
  std::vector<Tensor> images;
  for (int s = 0; s < options.num_frames; ++s) {
    images.push_back(machine.image(options, 1 - 0.5f * static_cast<float>(s) / static_cast<float>(options.num_frames)));
  }
  const std::vector<TensorView> views(images.begin(), images.end());
  report_runs(ops, options.num_runs, [&](StageClock& clock) {
    // Steps of the aggregator are a frame block and a global block in turn.
    const Progress progress{.on_step =
                                [&](std::string_view stage, int done, int) {
                                  const bool blocks = stage == "aggregator";
                                  clock.enter(!blocks ? std::string(stage) : done % 2 == 0 ? "frame blocks" : "global blocks");
                                },
                            .cancel = nullptr};
    const Aggregated aggregated = model->aggregate(ops, views, progress);
    (void)model->camera(ops, aggregated, progress);
    for (int64_t frame = 0; frame < aggregated.num_frames; ++frame) (void)model->dense(ops, aggregated, frame, progress);
  });
  report_memory(machine.context, plan_vggt(model->config(), opened.num_parameters(), options.num_frames, model->grid_of(images[0])));
}

}  // namespace
}  // namespace pointmap::bench

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] == '-') {
    std::fprintf(
        stderr,
        "usage: bench_models [MODEL [WIDTH HEIGHT [RUNS [FRAMES]]]]\nMODEL: synthetic:dust3r-512-dpt (default), synthetic:vggt-1b or "
        "any other; FRAMES: of VGGT.\n");
    return 2;
  }
  try {
    const std::string name = argc > 1 ? argv[1] : "synthetic:dust3r-512-dpt";
    const pointmap::OpenedModel opened = pointmap::OpenedModel::open(name);
    const bool is_vggt = std::holds_alternative<pointmap::VggtConfig>(opened.config());
    const int64_t side = is_vggt ? 518 : 512;
    const pointmap::bench::Options options{.model = name,
                                           .width = argc > 3 ? std::atoll(argv[2]) : side,
                                           .height = argc > 3 ? std::atoll(argv[3]) : side,
                                           .num_runs = std::max(1, argc > 4 ? std::atoi(argv[4]) : 3),
                                           .num_frames = is_vggt && argc > 5 ? std::max(1, std::atoi(argv[5])) : 2};
    is_vggt ? pointmap::bench::bench_vggt(opened, options) : pointmap::bench::bench_dust3r(opened, options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_models: %s\n", error.what());
    return 1;
  }
}
