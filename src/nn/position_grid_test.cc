#include "nn/position_grid.h"

#include <gtest/gtest.h>

#include <numeric>

#include "kernels/make_ops.h"

namespace pointmap {
namespace {

void expect_taps(const ResampleTaps& taps, int64_t first, const std::vector<double>& weights) {
  // Printed with 6 decimals; what lies beyond the list is 0.
  for (size_t k = 0; k < taps.weights.size(); ++k) {
    const int64_t index = taps.first + static_cast<int64_t>(k) - first;
    const bool listed = index >= 0 && index < static_cast<int64_t>(weights.size());
    EXPECT_NEAR(taps.weights[k], listed ? weights[static_cast<size_t>(index)] : 0.0, 0.5000001e-6) << "tap " << taps.first + index;
  }
  EXPECT_LE(taps.first, first);
  EXPECT_GE(taps.first + static_cast<int64_t>(taps.weights.size()), first + static_cast<int64_t>(weights.size()));
}

TEST(PositionGrid, TapsAreThoseOfTheSpecification) {  // VGGT, appendix A.4
  const std::vector<ResampleTaps> smaller = bicubic_antialias_taps(37, 25), larger = bicubic_antialias_taps(37, 40);
  expect_taps(smaller[0], 0, {0.665034, 0.384516, -0.043966, -0.005583});
  expect_taps(smaller[12], 16, {-0.049445, 0.214973, 0.668943, 0.214973, -0.049445});
  expect_taps(larger[0], 0, {1.017739, -0.017739});
  expect_taps(larger[20], 17, {-0.066810, 0.613632, 0.510665, -0.057487});
}

TEST(PositionGrid, TapsSumToOneAndStayInside) {
  for (const auto& [in, out] : {std::pair<int64_t, int64_t>{37, 37}, {5, 3}, {1, 6}, {37, 1}, {2, 9}}) {
    for (const ResampleTaps& taps : bicubic_antialias_taps(in, out)) {
      EXPECT_GE(taps.first, 0);
      EXPECT_LE(taps.first + static_cast<int64_t>(taps.weights.size()), in);
      EXPECT_NEAR(std::accumulate(taps.weights.begin(), taps.weights.end(), 0.0), 1, 1e-15 * static_cast<double>(in));
    }
  }
}

class PositionGridOnOps : public testing::Test {
 protected:
  Tensor counting(const Shape& shape) {
    Tensor t(arena_, DType::kF32, shape);
    for (int64_t i = 0; i < shape.num_elements(); ++i) t.data<float>()[i] = static_cast<float>(i * i % 17) - 7.5f;
    return t;
  }

  ThreadPool pool_{1};
  Arena arena_;
  std::unique_ptr<Ops> ops_ = make_ops(Device::kReference, {pool_, arena_, arena_});
};

TEST_F(PositionGridOnOps, ItsOwnSizeChangesNoBit) {
  const Tensor grid = counting({5, 7, 3});
  const Tensor same = resize_position_grid(*ops_, grid, {5, 7});
  ASSERT_EQ(same.shape(), (Shape{1, 5, 7, 3}));
  for (int64_t i = 0; i < 5 * 7 * 3; ++i) EXPECT_EQ(same.data<float>()[i], grid.data<float>()[i]) << i;
}

TEST_F(PositionGridOnOps, RowsAreRowsAndColumnsAreColumns) {
  const Tensor grid = counting({4, 6, 2});
  const Tensor resized = resize_position_grid(*ops_, grid, {3, 9});
  const std::vector<ResampleTaps> rows = bicubic_antialias_taps(4, 3), columns = bicubic_antialias_taps(6, 9);
  for (int64_t i = 0; i < 3 * 9 * 2; ++i) {
    const ResampleTaps &row = rows[static_cast<size_t>(i / 18)], &column = columns[static_cast<size_t>(i / 2 % 9)];
    double want = 0;
    for (size_t y = 0; y < row.weights.size(); ++y) {
      for (size_t x = 0; x < column.weights.size(); ++x) {
        const int64_t from = (row.first + static_cast<int64_t>(y)) * 6 + column.first + static_cast<int64_t>(x);
        want += row.weights[y] * column.weights[x] * grid.data<float>()[from * 2 + i % 2];
      }
    }
    EXPECT_NEAR(resized.data<float>()[i], want, 8 * 0x1p-24);  // values of at most 8, rounded to float once
  }
}

}  // namespace
}  // namespace pointmap
