// One golden run of DUSt3R: our stages next to upstream's, printed and judged.
#pragma once

#include <memory>
#include <string>

#include "golden_file.h"
#include "kernels/make_ops.h"
#include "models/dust3r/dust3r.h"

namespace pointmap {

// A model with the name-seeded weights, and what it runs on.
class GoldenModel {
 public:
  GoldenModel(const Dust3rConfig& config, Device device);

  Arena& arena() { return activations_; }
  // Runs the pair, prints a line GOLDEN ... for every stage and fails the current test for each stage that is off by more than the
  // project's allowance or that no probe showed.
  void run(const std::string& name, const GoldenFile& golden, TensorView image1, TensorView image2);

 private:
  ThreadPool pool_;
  Arena weights_;
  Arena activations_;
  std::unique_ptr<Ops> ops_;
  std::unique_ptr<Dust3r> model_;
};

// tests/golden/NAME.npz of this repository.
std::string golden_path(const std::string& name);

// An image that the golden file holds as (1, 3, H, W), as [1, H, W, 3].
Tensor image_from_file(const NpzArray& array, Arena& arena);

// The integer pattern of the golden data's description, normalised as DUSt3R's loader does, [1, H, W, 3].
Tensor procedural_image(int64_t width, int64_t height, int64_t seed, Arena& arena);

}  // namespace pointmap
