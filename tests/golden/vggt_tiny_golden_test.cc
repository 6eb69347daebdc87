// Exactness of the small VGGT: every stage, on the kernels that users get and on the slow reference.
#include <gtest/gtest.h>

#include "golden_vggt.h"
#include "kernels/cpu/for_each_target_test.h"

namespace pointmap {
namespace {

void run_case(GoldenVggt& model, const std::string& file) {
  const GoldenFile golden(golden_path(file));
  const NpzArray& array = golden.npz().array("images");
  std::vector<Tensor> images;
  for (int64_t s = 0; s < array.shape[0]; ++s) images.push_back(image_from_file(array, s, model.arena()));
  const std::vector<TensorView> views(images.begin(), images.end());
  model.run(file, golden, views);
}

// 0.8 GB of weights: made once for all cases of a device.
void run_all_cases(Device device) {
  GoldenVggt model(VggtConfig::tiny(), device);
  for (const char* file : {"vggt_tiny_s1_70x70", "vggt_tiny_s2_56x42", "vggt_tiny_s3_42x56"}) run_case(model, file);
}

TEST(VggtTinyGolden, EveryStageIsAsCloseToTheTruthAsPyTorch) {
  run_all_cases(Device::kCpu);
}

TEST(VggtTinyGolden, TheReferenceIsAsClose) {
  run_all_cases(Device::kReference);
}

// Whatever machine a user has: the whole model on every instruction set that this one can run.
TEST(VggtTinyGolden, EveryInstructionSetIsAsClose) {
  cpu::for_each_target([] {
    GoldenVggt model(VggtConfig::tiny(), Device::kCpu);
    run_case(model, "vggt_tiny_s3_42x56");
  });
}

}  // namespace
}  // namespace pointmap
