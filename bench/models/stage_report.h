// How a forward pass is measured and shown: by stage and by kind of op, beside what the multiply-add units give in the same process.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "base/stopwatch.h"
#include "kernels/ops.h"
#include "recon/memory_plan.h"

namespace pointmap::bench {

struct Measured {
  double ms = 0;
  double flops = 0;
};

// Attributes time and FLOP to the stage entered last. Stages are shown in the order of their first entry.
class StageClock {
 public:
  explicit StageClock(Ops& ops) : ops_(ops) { ops.reset_stats(); }
  void enter(const std::string& stage);
  // Ends the last stage.
  void stop();

  struct Stage {
    std::string name;
    Measured measured;
  };
  const std::vector<Stage>& stages() const { return stages_; }

 private:
  Ops& ops_;
  Stopwatch watch_;
  std::vector<Stage> stages_;
  size_t current_ = SIZE_MAX;
  double flops_before_ = 0;
};

struct BenchRun {
  std::vector<StageClock::Stage> stages;
  std::array<Measured, kNumOpKinds> kinds;
  Measured whole;
};

// One pass: `forward` enters its stages.
BenchRun measure_run(Ops& ops, const std::function<void(StageClock&)>& forward);

// A warm-up, then num_runs passes, and the report of the median one on stdout.
void report_runs(Ops& ops, int num_runs, const std::function<void(StageClock&)>& forward);

// Peak resident memory, what it is made of, and the planner's prediction.
void report_memory(const OpsContext& context, const MemoryPlan& plan);

}  // namespace pointmap::bench
