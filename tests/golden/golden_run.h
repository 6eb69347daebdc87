// What golden runs of all models share: the judge of their stages, and their inputs.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "golden_file.h"
#include "tensor/tensor.h"

namespace pointmap {

// Our stages next to upstream's, printed and judged.
class GoldenJudge {
 public:
  // name: of the case; device: what it runs on. The file outlives the judge.
  GoldenJudge(std::string name, std::string_view device, const GoldenFile& golden)
      : name_(std::move(name)), device_(device), golden_(golden) {}

  // Prints a line GOLDEN ... and fails the current test when the stage is off by more than the project's allowance. Some files have
  // the outputs only: what is not in the file is not judged.
  void see(std::string_view stage, TensorView value);
  // Fails the current test for every stage of the file that was not seen.
  void expect_all_seen() const;

 private:
  std::string name_;
  std::string device_;
  const GoldenFile& golden_;
  std::set<std::string> seen_;
};

// tests/golden/NAME.npz of this repository.
std::string golden_path(const std::string& name);

// Image `index` of those that the golden file holds as (S, 3, H, W), as [1, H, W, 3].
Tensor image_from_file(const NpzArray& array, int64_t index, Arena& arena);

// The integer pattern of the golden data's description, in [0, 1], [1, H, W, 3].
Tensor procedural_image(int64_t width, int64_t height, int64_t seed, Arena& arena);

}  // namespace pointmap
