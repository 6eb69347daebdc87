#include "nn/rope2d.h"

#include <gtest/gtest.h>

#include <array>

#include "kernels/make_ops.h"

namespace pointmap {
namespace {

// The test vector of the specification (section 1.6): head size 64, base 100, patch at row 3, column 5.
// Channels of v[k] = k/64, k < 64, turned for a patch at row 3, column 5, base 100: specification of DUSt3R, section 1.6, and of VGGT,
// appendix A.1.
void expect_turned_for_row_3_column_5(const float* rotated) {
  struct Wanted {
    int channel;
    float value;
  };
  constexpr std::array<Wanted, 12> kWanted = {{{0, -0.0352800f},
                                               {1, -0.2165400f},
                                               {15, 0.2148149f},
                                               {16, -0.2474981f},
                                               {17, -0.1546325f},
                                               {31, 0.4933613f},
                                               {32, 0.8610243f},
                                               {33, 0.0140124f},
                                               {47, 0.6671575f},
                                               {48, -0.2667155f},
                                               {49, -0.9229596f},
                                               {63, 1.0311166f}}};
  // The specification gives 7 decimals, and angles up to 5 in float32 are off by up to 2^-22.
  for (const Wanted& wanted : kWanted) EXPECT_NEAR(rotated[wanted.channel], wanted.value, 0.5e-7 + 0x1p-22) << wanted.channel;
}

class Rope2d : public testing::Test {
 protected:
  // num_tokens rows of v, rotated by the table.
  Tensor rotated(const RopePositions& positions, int64_t num_tokens) {
    const RopeTable table = make_rope_table(*ops_, positions, 64, 100.0);
    EXPECT_EQ(table.cos.shape(), (Shape{num_tokens, 32}));
    Tensor x(arena_, DType::kF32, {1, num_tokens, 64});
    for (int64_t i = 0; i < num_tokens * 64; ++i) x.data<float>()[i] = static_cast<float>(i % 64) / 64.0f;
    ops_->rope2d(x, table, 0, 1);
    return x;
  }

  ThreadPool pool_{1};
  Arena arena_;
  std::unique_ptr<Ops> ops_ = make_ops(Device::kReference, {pool_, arena_, arena_});
};

TEST_F(Rope2d, MatchesTheSpecification) {
  const Tensor x = rotated({.grid = {4, 6}}, 24);
  expect_turned_for_row_3_column_5(x.data<float>() + (3 * 6 + 5) * 64);
}

TEST_F(Rope2d, StartsWherePositionsStartAndLeavesTokensBeforeThePatchesStill) {
  const Tensor x = rotated({.grid = {3, 5}, .first = 1, .num_still = 5}, 20);
  expect_turned_for_row_3_column_5(x.data<float>() + (5 + 2 * 5 + 4) * 64);
  for (int64_t i = 0; i < 5 * 64; ++i) EXPECT_EQ(x.data<float>()[i], static_cast<float>(i % 64) / 64.0f);
}

}  // namespace
}  // namespace pointmap
