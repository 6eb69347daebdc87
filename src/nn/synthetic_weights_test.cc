#include "nn/synthetic_weights.h"

#include <gtest/gtest.h>

namespace pointmap {
namespace {

// The check values of the golden data's description.
TEST(SyntheticWeights, MatchesThePublishedValues) {
  ThreadPool pool(2);
  Arena arena;
  SyntheticWeights weights(pool, arena);
  const TensorView norm = weights.load("enc_norm.weight", {4});
  const float norm_wanted[] = {0.9325823783874512f, 1.103144884109497f, 1.046707034111023f, 0.8658599853515625f};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(norm.data<float>()[i], norm_wanted[i]);
  const TensorView bias = weights.load("patch_embed.proj.bias", {3});
  const float bias_wanted[] = {0.003020382020622492f, 0.0015703201061114669f, -0.05747826769948006f};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bias.data<float>()[i], bias_wanted[i]);
}

TEST(SyntheticWeights, RulesFollowNameAndShape) {
  const auto amp = [](std::string_view name, const Shape& shape) { return synthetic_rule(name, shape).amp; };
  EXPECT_EQ(amp("x.gamma", {8}), 0.2f);
  EXPECT_EQ(synthetic_rule("x.gamma", {8}).base, 0.5f);
  EXPECT_EQ(amp("mask_token", {1, 1, 8}), 0.5f);
  EXPECT_EQ(amp("a.mlp.fc1.weight", {10, 12}), 0.5f);                       // sqrt(3/12)
  EXPECT_EQ(amp("a.attn.qkv.weight", {10, 12}), 1.0f);                      // gain 2
  EXPECT_EQ(amp("a.conv.weight", {5, 3, 2, 2}), 0.5f);                      // fan_in = 3 * 2 * 2
  EXPECT_EQ(amp("h.dpt.act_postprocess.0.1.weight", {12, 7, 4, 4}), 0.5f);  // transposed: fan_in = shape[0]
  EXPECT_FLOAT_EQ(amp("downstream_head1.proj.weight", {10, 12}), 0.075f);   // gain 0.15
}

TEST(SyntheticWeights, SameValuesForAnyThreadCount) {
  Arena arena;
  ThreadPool one(1);
  ThreadPool seven(7);
  SyntheticWeights a(one, arena);
  SyntheticWeights b(seven, arena);
  const Shape shape{300, 1000};
  const float* x = a.load("w.weight", shape).data<float>();
  const float* y = b.load("w.weight", shape).data<float>();
  EXPECT_TRUE(std::equal(x, x + shape.num_elements(), y));
}

}  // namespace
}  // namespace pointmap
