#include "models/dust3r/dust3r.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/make_ops.h"
#include "nn/listed_weights_testing.h"
#include "nn/synthetic_weights.h"

namespace pointmap {
namespace {

WeightReport check(WeightSource& source, const Dust3rConfig& config) {
  WeightMap map(source);
  const Dust3r model(WeightScope(map), config);
  return map.report();
}

TEST(Dust3r, AsksForExactlyTheTensorsOfThePublishedModel) {
  ListedWeights source("dust3r_512_dpt.names.tsv");
  const WeightReport report = check(source, Dust3rConfig::large_512_dpt());
  EXPECT_NO_THROW(require_complete(report, "dust3r_512_dpt"));
  EXPECT_EQ(report.num_parameters, 568'810'120);   // specification, section 3.2: those used at inference
  EXPECT_EQ(report.ignored.size(), 1u + 2u * 4u);  // mask_token, and refinenet4.resConfUnit1 of both heads
}

TEST(Dust3r, AcceptsAFileWithTheAliasNamesOnly) {
  ListedWeights source("dust3r_512_dpt.names.tsv");
  for (const int head : {1, 2}) source.erase("downstream_head" + std::to_string(head) + ".dpt.scratch.layer1_rn.weight");
  EXPECT_TRUE(check(source, Dust3rConfig::large_512_dpt()).ok());
}

TEST(Dust3r, AsksForExactlyTheTensorsOfTheTinyModels) {
  ListedWeights dpt("dust3r_tiny.names.tsv");
  EXPECT_NO_THROW(require_complete(check(dpt, Dust3rConfig::tiny(Dust3rConfig::Head::kDpt)), "tiny"));
  ListedWeights linear("dust3r_tinylinear.names.tsv");
  EXPECT_NO_THROW(require_complete(check(linear, Dust3rConfig::tiny(Dust3rConfig::Head::kLinear)), "tiny-linear"));
}

TEST(Dust3r, RefusesConfigurationsItCannotCompute) {
  const auto refused = [](const auto& change) {
    Dust3rConfig config = Dust3rConfig::tiny(Dust3rConfig::Head::kDpt);
    change(config);
    EXPECT_THROW(config.validate(), Error);
  };
  refused([](Dust3rConfig& c) { c.enc_num_heads = 3; });
  refused([](Dust3rConfig& c) { c.enc_depth = 1'000'000; });
  refused([](Dust3rConfig& c) { c.dec_embed_dim = 0; });
  refused([](Dust3rConfig& c) { c.patch_size = 14; });
  refused([](Dust3rConfig& c) { c.rope_base = 0; });
  EXPECT_NO_THROW(Dust3rConfig::large_512_dpt().validate());
}

class TinyModel : public testing::Test {
 protected:
  TinyModel() : ops_(make_ops(Device::kReference, {pool_, arena_, arena_})) {
    SyntheticWeights weights(pool_, arena_);
    WeightMap map(weights, *ops_);
    model_ = std::make_unique<Dust3r>(WeightScope(map), Dust3rConfig::tiny(Dust3rConfig::Head::kLinear));
  }
  Tensor image(int64_t height, int64_t width) {
    Tensor image(arena_, DType::kF32, {1, height, width, 3});
    std::fill_n(image.data<float>(), image.shape().num_elements(), 0.25f);
    return image;
  }

  ThreadPool pool_{2};
  Arena arena_;
  std::unique_ptr<Ops> ops_;
  std::unique_ptr<Dust3r> model_;
};

TEST_F(TinyModel, RefusesAnImageThatIsNoWholeNumberOfPatches) {
  EXPECT_THROW((void)model_->forward(*ops_, image(32, 40), image(32, 32)), Error);
}

TEST_F(TinyModel, StopsBetweenBlocksWhenCancelled) {
  CancelFlag cancel;
  int steps = 0;
  const Progress progress{.on_step =
                              [&](std::string_view stage, int, int) {
                                ++steps;
                                if (stage == "decoder") cancel.request();
                              },
                          .cancel = &cancel};
  try {
    (void)model_->forward(*ops_, image(32, 32), image(32, 32), progress);
    FAIL() << "ran to the end";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kCancelled);
  }
  EXPECT_EQ(steps, 3 + 1);  // three encoder blocks and the first decoder block
}

}  // namespace
}  // namespace pointmap
