#include "nn/uv_embedding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/make_ops.h"

namespace pointmap {
namespace {

class UvEmbeddingTest : public testing::Test {
 protected:
  // The embedding of channels of a pixel, against values printed with 7 decimals.
  void expect_channels(const UvGrid& grid, int64_t channels, std::pair<int64_t, int64_t> row_and_column,
                       const std::vector<std::pair<int64_t, double>>& wanted) {
    Tensor map(arena_, DType::kF32, {1, grid.height, grid.width, channels});
    std::fill_n(map.data<float>(), map.shape().num_elements(), 0.0f);
    UvEmbedding(*ops_, grid, channels, 1).add_to(*ops_, map);
    const float* pixel = map.data<float>() + (row_and_column.first * grid.width + row_and_column.second) * channels;
    // Half a unit of the last decimal, a rounding to float, and 6e-8 that upstream's float grid is off the closed form.
    for (const auto& [channel, value] : wanted) EXPECT_NEAR(pixel[channel], value, 0.5e-7 + 0x1p-25 + 6e-8) << "channel " << channel;
  }

  ThreadPool pool_{1};
  Arena arena_;
  std::unique_ptr<Ops> ops_ = make_ops(Device::kReference, {pool_, arena_, arena_});
};

constexpr double kAspect = 518.0 / 350.0;

TEST_F(UvEmbeddingTest, HasTheValuesOfTheSpecificationOnAPatchGrid) {  // VGGT, appendix A.2
  expect_channels({.height = 25, .width = 37, .aspect = kAspect}, 256, {0, 0},
                  {{0, -0.7216582},
                   {1, -0.6818013},
                   {63, -0.0086633},
                   {64, 0.6922496},
                   {127, 0.9999624},
                   {128, -0.5119584},
                   {191, -0.0057756},
                   {192, 0.8590102},
                   {255, 0.9999833}});
  // The opposite corner has the negatives: sines change sign, cosines do not.
  expect_channels({.height = 25, .width = 37, .aspect = kAspect}, 256, {24, 36}, {{0, 0.7216582}, {64, 0.6922496}, {128, 0.5119584}});
}

TEST_F(UvEmbeddingTest, HasTheValuesOfTheSpecificationAtFullResolution) {  // A.3
  const UvGrid grid{.height = 350, .width = 518, .aspect = kAspect};
  expect_channels(grid, 128, {0, 0},
                  {{0, -0.7358962}, {31, -0.0095498}, {32, 0.6770943}, {63, 0.9999544}, {64, -0.5297093}, {127, 0.9999792}});
  expect_channels(grid, 128, {100, 200},
                  {{0, -0.1860617},
                   {31, -0.0021612},
                   {32, 0.9825380},
                   {63, 0.9999977},
                   {64, -0.2360892},
                   {95, -0.0027523},
                   {96, 0.9717314},
                   {127, 0.9999962}});
}

TEST_F(UvEmbeddingTest, IsScaledAndAddedToWhatIsThere) {
  Tensor map(arena_, DType::kF32, {1, 1, 1, 4});
  std::fill_n(map.data<float>(), 4, 5.0f);
  UvEmbedding(*ops_, {.height = 1, .width = 1}, 4, 0.1).add_to(*ops_, map);  // u = v = 0
  const std::vector<float> wanted = {5, 5.1f, 5, 5.1f};
  for (size_t c = 0; c < 4; ++c) EXPECT_FLOAT_EQ(map.data<float>()[c], wanted[c]);
}

}  // namespace
}  // namespace pointmap
