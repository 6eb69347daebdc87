#include "nn/dpt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "kernels/make_ops.h"

namespace pointmap {
namespace {

// The tensors that a test names, all else zero.
class NamedWeights : public WeightSource {
 public:
  explicit NamedWeights(std::map<std::string, float> values, Arena& arena) : values_(std::move(values)), arena_(arena) {}

  std::optional<Shape> shape_of(const std::string&, const Shape& wanted) override { return wanted; }
  // Identity convolutions: `value` in the middle of the kernel on the diagonal of channels.
  TensorView load(const std::string& name, const Shape& shape) override {
    Tensor tensor(arena_, DType::kF32, shape);
    std::fill_n(tensor.data<float>(), shape.num_elements(), 0.0f);
    const auto found = values_.find(name);
    if (found != values_.end() && shape.rank() == 4) {
      const int64_t taps = shape[2] * shape[3];
      for (int64_t c = 0; c < std::min(shape[0], shape[1]); ++c) {
        tensor.data<float>()[(c * shape[1] + c) * taps + taps / 2] = found->second;
      }
    }
    return loaded_.insert_or_assign(name, std::move(tensor)).first->second.view();
  }
  void release(const std::string& name) override { loaded_.erase(name); }
  std::vector<std::string> names() const override { return {}; }

 private:
  std::map<std::string, float> values_;
  std::map<std::string, Tensor> loaded_;
  Arena& arena_;
};

class Dpt : public testing::Test {
 protected:
  std::vector<float> unit_of(UnitSkip skip, float x) {
    NamedWeights weights({{"conv1.weight", 1.0f}, {"conv2.weight", 1.0f}}, arena_);
    WeightMap map(weights, *ops_);
    const ResidualConvUnit unit(WeightScope(map), 1, skip);
    Tensor pixel(arena_, DType::kF32, {1, 1, 1, 1});
    pixel.data<float>()[0] = x;
    const Tensor y = unit.forward(*ops_, pixel);
    return {y.data<float>()[0]};
  }

  ThreadPool pool_{1};
  Arena arena_;
  std::unique_ptr<Ops> ops_ = make_ops(Device::kCpu, {pool_, arena_, arena_});
};

TEST_F(Dpt, ResidualUnitAddsItsInputOrItsRectifiedInput) {  // VGGT, appendix A.6
  EXPECT_THAT(unit_of(UnitSkip::kRectifiedInput, -1), testing::ElementsAre(0));
  EXPECT_THAT(unit_of(UnitSkip::kRectifiedInput, 2), testing::ElementsAre(4));
  EXPECT_THAT(unit_of(UnitSkip::kInput, -1), testing::ElementsAre(-1));
  EXPECT_THAT(unit_of(UnitSkip::kInput, 2), testing::ElementsAre(4));
}

TEST_F(Dpt, LevelsHaveTheirPartsOfThePatchGrid) {
  NamedWeights weights({}, arena_);
  WeightMap map(weights, *ops_);
  const WeightScope scope(map);
  const std::vector<Shape> wanted = {{1, 12, 20, 2}, {1, 6, 10, 2}, {1, 3, 5, 2}, {1, 2, 3, 2}};
  Tensor tokens(arena_, DType::kF32, {1, 3, 5, 4});
  std::fill_n(tokens.data<float>(), tokens.shape().num_elements(), 1.0f);
  for (size_t level = 0; level < 4; ++level) {
    const ReassembleBlock block(scope["p"], scope["r"], {.level = level, .in_channels = 4, .channels = 2});
    EXPECT_EQ(block.resize(*ops_, block.project(*ops_, tokens)).shape(), wanted[level]);
  }
}

// Odd grids: with identity convolutions only, the coarsest level alone carries values, and resizing or cutting shows at its right edge.
TEST_F(Dpt, OddGridsAreCutOrResized) {
  std::map<std::string, float> identities = {{"layer4_rn.weight", 1.0f}};
  for (const char* number : {"1", "2", "3", "4"}) identities["refinenet" + std::string(number) + ".out_conv.weight"] = 1.0f;
  NamedWeights weights(identities, arena_);
  const auto last_column = [&](bool crop) {
    WeightMap map(weights, *ops_);
    const PyramidFusion fusion(WeightScope(map), {.level_channels = {1, 1, 1, 1}, .channels = 1, .crop_odd_grids = crop});
    std::array<Tensor, 4> laterals;
    const std::array<int64_t, 4> sides = {12, 6, 3, 2};
    for (size_t level = 0; level < 4; ++level) {
      Tensor level_map(arena_, DType::kF32, {1, sides[level], sides[level], 1});
      for (int64_t i = 0; i < level_map.shape().num_elements(); ++i) level_map.data<float>()[i] = static_cast<float>(i % sides[level]);
      laterals[level] = fusion.lateral(*ops_, level, level_map);
    }
    const Tensor fused = fusion.fuse(*ops_, laterals);
    EXPECT_EQ(fused.shape(), (Shape{1, 24, 24, 1}));
    return fused.data<float>()[23];
  };
  // Columns 0 and 1 of the coarsest level resized to 4 are 0, 1/3, 2/3, 1; cut to 3 the last is 2/3. Resized to 3 the last is 1.
  EXPECT_FLOAT_EQ(last_column(true), 2.0f / 3);
  EXPECT_FLOAT_EQ(last_column(false), 1);
}

}  // namespace
}  // namespace pointmap
