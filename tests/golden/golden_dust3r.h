// One golden run of DUSt3R.
#pragma once

#include <memory>
#include <string>

#include "golden_run.h"
#include "kernels/make_ops.h"
#include "models/dust3r/dust3r.h"

namespace pointmap {

// A model, and what it runs on.
class GoldenDust3r {
 public:
  // With the name-seeded weights.
  GoldenDust3r(const Dust3rConfig& config, Device device);
  GoldenDust3r(const Dust3rConfig& config, Device device, WeightSource& weights);

  Arena& arena() { return activations_; }
  // Runs the pair, images [1, H, W, 3] in [-1, 1], and judges every stage: see GoldenJudge.
  void run(const std::string& name, const GoldenFile& golden, TensorView image1, TensorView image2);

 private:
  void load(const Dust3rConfig& config, WeightSource& weights);

  ThreadPool pool_;
  Arena weights_;
  Arena activations_;
  std::unique_ptr<Ops> ops_;
  std::unique_ptr<Dust3r> model_;
};

}  // namespace pointmap
