// The model in the box on our engine and in PyTorch (training/, a second implementation): the same maps, within the allowance that golden
// data of the upstream program have. Its weights are trained, so activations are as users will see them.
#include <gtest/gtest.h>

#include <filesystem>

#include "demo_model/demo_model.h"
#include "golden_dust3r.h"
#include "io/config/config_parser.h"
#include "io/safetensors/checkpoint.h"
#include "recon/checkpoint_weights.h"
#include "recon/dust3r_config.h"

namespace pointmap {
namespace {

class DemoGolden : public testing::TestWithParam<Device> {};

TEST_P(DemoGolden, MapsAreAsCloseToTheTruthAsPyTorch) {
  const DemoModel demo = demo_model();
  const std::string name = "demo_192x144";
  if (!demo.in_this_build() || !std::filesystem::exists(golden_path(name))) {
    GTEST_SKIP() << "this build has no model 'demo', or no golden data of it";
  }
  const Checkpoint checkpoint = Checkpoint::from_bytes(demo.weights, "demo");
  CheckpointWeights weights(checkpoint);
  GoldenDust3r model(dust3r_config_from(parse_config(demo.config, "config.json of the model 'demo'")), GetParam(), weights);
  const GoldenFile golden(golden_path(name));
  const Tensor image1 = image_from_file(golden.npz().array("img1"), 0, model.arena());
  const Tensor image2 = image_from_file(golden.npz().array("img2"), 0, model.arena());
  model.run(name, golden, image1, image2);
}

INSTANTIATE_TEST_SUITE_P(Demo, DemoGolden, testing::Values(Device::kCpu, Device::kReference),
                         [](const auto& test) { return test.param == Device::kCpu ? "cpu" : "reference"; });

}  // namespace
}  // namespace pointmap
