#include "nn/rope2d.h"

#include <gtest/gtest.h>

#include <array>

#include "kernels/make_ops.h"

namespace pointmap {
namespace {

// The test vector of the specification (section 1.6): head size 64, base 100, patch at row 3, column 5.
TEST(Rope2d, MatchesTheSpecification) {
  ThreadPool pool(1);
  Arena arena;
  const std::unique_ptr<Ops> ops = make_ops(Device::kReference, {pool, arena, arena});
  const PatchGrid grid{4, 6};
  const RopeTable table = make_rope_table(*ops, grid, 64, 100.0);
  ASSERT_EQ(table.cos.shape(), (Shape{24, 32}));
  Tensor x(arena, DType::kF32, {1, grid.num_patches(), 64});
  for (int64_t n = 0; n < grid.num_patches(); ++n) {
    for (int64_t k = 0; k < 64; ++k) x.data<float>()[n * 64 + k] = static_cast<float>(k) / 64.0f;
  }
  ops->rope2d(x, table, 0, 1);
  const float* rotated = x.data<float>() + (3 * 6 + 5) * 64;
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

}  // namespace
}  // namespace pointmap
