// One golden run of DUSt3R.
#pragma once

#include <memory>
#include <string>

#include "golden_run.h"
#include "kernels/make_ops.h"
#include "models/dust3r/dust3r.h"

namespace pointmap {

// A model with the name-seeded weights, and what it runs on.
class GoldenDust3r {
 public:
  GoldenDust3r(const Dust3rConfig& config, Device device);

  Arena& arena() { return activations_; }
  // Runs the pair, images [1, H, W, 3] in [-1, 1], and judges every stage: see GoldenJudge.
  void run(const std::string& name, const GoldenFile& golden, TensorView image1, TensorView image2);

 private:
  ThreadPool pool_;
  Arena weights_;
  Arena activations_;
  std::unique_ptr<Ops> ops_;
  std::unique_ptr<Dust3r> model_;
};

}  // namespace pointmap
