// Exactness of the small models: every stage, every element, on the kernels that users get and on the slow reference.
#include <gtest/gtest.h>

#include "golden_dust3r.h"
#include "kernels/cpu/for_each_target_test.h"

namespace pointmap {
namespace {

struct TinyCase {
  std::string file;
  Dust3rConfig::Head head = Dust3rConfig::Head::kDpt;
};

std::vector<TinyCase> cases() {
  return {{"dust3r_tiny_64x48"},       {"dust3r_tiny_48x64"}, {"dust3r_tiny_32x32"},
          {"dust3r_tiny_80x48_32x32"}, {"dust3r_tiny_mixed"}, {"dust3r_tinylinear_64x48", Dust3rConfig::Head::kLinear}};
}

void run_case(const TinyCase& param, Device device) {
  const GoldenFile golden(golden_path(param.file));
  GoldenDust3r model(Dust3rConfig::tiny(param.head), device);
  const Tensor image1 = image_from_file(golden.npz().array("img1"), 0, model.arena());
  const Tensor image2 = image_from_file(golden.npz().array("img2"), 0, model.arena());
  model.run(param.file, golden, image1, image2);
}

class TinyGolden : public testing::TestWithParam<std::tuple<Device, TinyCase>> {};

TEST_P(TinyGolden, EveryStageIsAsCloseToTheTruthAsPyTorch) {
  run_case(std::get<1>(GetParam()), std::get<0>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Dust3r, TinyGolden,
                         testing::Combine(testing::Values(Device::kCpu, Device::kReference), testing::ValuesIn(cases())),
                         [](const auto& test) {
                           const bool cpu = std::get<0>(test.param) == Device::kCpu;
                           return std::get<1>(test.param).file + (cpu ? "_cpu" : "_reference");
                         });

// Whatever machine a user has: the whole model on every instruction set that this one can run.
TEST(TinyGoldenTargets, EveryInstructionSetIsAsClose) {
  cpu::for_each_target([] {
    run_case({"dust3r_tiny_32x32"}, Device::kCpu);
    run_case({"dust3r_tinylinear_64x48", Dust3rConfig::Head::kLinear}, Device::kCpu);
  });
}

}  // namespace
}  // namespace pointmap
