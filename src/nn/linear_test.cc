#include "nn/linear.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/make_ops.h"
#include "nn/synthetic_weights.h"

namespace pointmap {
namespace {

class LinearOnOps : public testing::Test {
 protected:
  Tensor counting(const Shape& shape) {
    Tensor t(arena_, DType::kF32, shape);
    for (int64_t i = 0; i < shape.num_elements(); ++i) t.data<float>()[i] = static_cast<float>(i * i % 23) / 23 - 0.5f;
    return t;
  }

  ThreadPool pool_{2};
  Arena arena_;
  std::unique_ptr<Ops> ops_ = make_ops(Device::kCpu, {pool_, arena_, arena_});
  SyntheticWeights weights_{pool_, arena_};
  WeightMap map_{weights_, *ops_};
};

TEST_F(LinearOnOps, MlpOfManyTokensHasTheBitsOfFewer) {
  const WeightScope scope(map_);
  const Mlp mlp(scope["mlp"], 8, 4);
  constexpr int64_t kMany = 2 * Mlp::kMaxRows + 3;  // three chunks, none full
  const Tensor x = counting({1, kMany, 8});
  Tensor all = counting({1, kMany, 8});
  mlp.add_to(*ops_, x, all);
  for (const int64_t row : {int64_t{0}, kMany / 3, Mlp::kMaxRows, kMany - 1}) {
    const TensorView one = x.view().reshape({kMany, 8}).slice_first(row, row + 1);
    const Tensor before = counting({kMany, 8});
    Tensor alone = ops_->upload(before.view().slice_first(row, row + 1));
    mlp.add_to(*ops_, one, alone);
    for (int64_t c = 0; c < 8; ++c) EXPECT_EQ(all.data<float>()[row * 8 + c], alone.data<float>()[c]) << "row " << row;
  }
}

TEST_F(LinearOnOps, LayerScaleMultipliesTheOutput) {
  const WeightScope scope(map_);
  const WeightScope ls = scope["ls"];
  const Linear plain(scope["fc"], 6, 5), scaled(scope["fc"], 6, 5, &ls);
  const Tensor gamma = ls.tensor("gamma", {5}), x = counting({4, 6});
  const Tensor want = plain.forward(*ops_, x), got = scaled.forward(*ops_, x);
  // Each of 7 terms of at most 1 in magnitude is rounded once more when it is scaled, and the sum of either once per term.
  for (int64_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(got.data<float>()[i], want.data<float>()[i] * gamma.data<float>()[i % 5], 3 * 7 * 0x1p-24) << i;
    EXPECT_GT(std::abs(gamma.data<float>()[i % 5] - 1), 0.1);  // or the test would not see the scale
  }
}

}  // namespace
}  // namespace pointmap
