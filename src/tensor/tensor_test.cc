#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace pointmap {
namespace {

TEST(Shape, CountsElementsAndRefusesOverflow) {
  EXPECT_EQ((Shape{2, 3, 4}).num_elements(), 24);
  EXPECT_EQ(Shape{}.num_elements(), 1);
  EXPECT_EQ((Shape{2, 3, 4})[-1], 4);
  EXPECT_EQ((Shape{2, 3}).to_string(), "[2, 3]");
  EXPECT_THROW((Shape{-1}), Error);
  EXPECT_THROW((Shape{INT64_MAX, 2}), Error);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1}), Error);
  EXPECT_THROW((Shape{2})[1], Error);
}

TEST(DType, WidensEveryHalfAndRoundsItBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = float_from_f16(static_cast<uint16_t>(bits));
    const uint16_t back = f16_from_float(value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_from_f16(back)));
    } else {
      EXPECT_EQ(back, bits);
    }
  }
  EXPECT_EQ(float_from_f16(0x3C00), 1.0f);
  EXPECT_EQ(float_from_f16(0x0001), 0x1p-24f);
  EXPECT_EQ(float_from_bf16(0x3F80), 1.0f);
}

TEST(DType, RoundsHalvesToEvenAndOverflowsToInfinity) {
  EXPECT_EQ(f16_from_float(1.0f + 0x1p-11f), 0x3C00);      // a tie goes to the even mantissa
  EXPECT_EQ(f16_from_float(1.0f + 3 * 0x1p-11f), 0x3C02);  // a tie goes up to the even mantissa
  EXPECT_EQ(f16_from_float(65519.0f), 0x7BFF);             // the last that rounds down
  EXPECT_EQ(f16_from_float(65520.0f), 0x7C00);             // the first that rounds to infinity
  EXPECT_EQ(f16_from_float(-std::numeric_limits<float>::infinity()), 0xFC00);
  EXPECT_EQ(f16_from_float(0x1p-25f), 0x0000);  // a tie below the smallest subnormal
  EXPECT_EQ(f16_from_float(0x1.8p-25f), 0x0001);
}

TEST(DType, ManyFloatsBecomeTheHalvesThatEachBecomes) {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 0x10FF3) values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  std::vector<uint16_t> halves(values.size());
  f16_from_floats(values, halves);
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(halves[i], f16_from_float(values[i])) << values[i];
}

TEST(TensorView, SlicesChannelsAndBatches) {
  Arena arena;
  Tensor t(arena, DType::kF32, {2, 3, 4});
  for (int i = 0; i < 24; ++i) t.data<float>()[i] = static_cast<float>(i);
  const TensorView channels = t.view().slice_last(1, 3);
  EXPECT_EQ(channels.shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(channels.row_stride(), 4);
  EXPECT_FALSE(channels.is_contiguous());
  EXPECT_EQ(channels.data<float>()[channels.row_stride()], 5.0f);
  const TensorView batch = t.view().slice_first(1, 2);
  EXPECT_EQ(batch.data<float>()[0], 12.0f);
  EXPECT_EQ(channels.slice_first(1, 2).data<float>()[0], 13.0f);
  EXPECT_EQ(t.view().reshape({6, 4}).shape(), (Shape{6, 4}));
  EXPECT_THROW(channels.reshape({12}), Error);
  EXPECT_THROW(t.view().slice_last(0, 5), Error);
  EXPECT_THROW((void)t.view().data<double>(), Error);
}

TEST(Arena, ReusesReleasedBlocksAndKnowsItsPeak) {
  Arena arena;
  {
    Tensor a(arena, DType::kF32, {1000});
    Tensor b(arena, DType::kF32, {1000});
    EXPECT_EQ(arena.bytes_in_use(), 2u * 4032u);
  }
  EXPECT_EQ(arena.bytes_in_use(), 0u);
  EXPECT_EQ(arena.peak_bytes_in_use(), 2u * 4032u);
  const size_t held = arena.bytes_held();
  Tensor c(arena, DType::kF32, {990});
  EXPECT_EQ(arena.bytes_held(), held);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(c.raw()) % 64, 0u);
  arena.trim();
  EXPECT_LT(arena.bytes_held(), held);
}

TEST(Arena, RefusesAboveItsLimitWithTheBytesNeeded) {
  Arena arena(1024);
  try {
    Tensor t(arena, DType::kF32, {1000});
    FAIL() << "took more than the limit";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kLimitExceeded);
    EXPECT_NE(std::string(error.what()).find("4032"), std::string::npos);
  }
}

TEST(Tensor, MovesItsMemory) {
  Arena arena;
  Tensor a(arena, DType::kF32, {4});
  a.data<float>()[3] = 3.0f;
  Tensor b = std::move(a);
  EXPECT_TRUE(a.empty());  // NOLINT: moved from on purpose
  EXPECT_EQ(b.data<float>()[3], 3.0f);
  Tensor c = std::move(b).reshaped({2, 2});
  EXPECT_EQ(c.shape(), (Shape{2, 2}));
}

}  // namespace
}  // namespace pointmap
