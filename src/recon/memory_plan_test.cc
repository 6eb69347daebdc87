#include "recon/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/make_ops.h"
#include "recon/model_loader.h"
#include "recon/swapped_pass.h"

namespace pointmap {
namespace {

struct PlanCase {
  const char* model;
  int64_t width;
  int64_t height;
};

class MemoryPlanTest : public testing::TestWithParam<PlanCase> {};

// The promise: within 10 % of what the arenas hold after a run, plus 4 MB for what does not grow with the picture.
TEST_P(MemoryPlanTest, IsNearWhatARunHolds) {
  const PlanCase& param = GetParam();
  ThreadPool pool(2);
  Arena weights;
  Arena activations;
  const std::unique_ptr<Ops> ops = make_ops(Device::kCpu, {pool, weights, activations});
  const OpenedModel opened = OpenedModel::open(param.model);
  const std::unique_ptr<Dust3r> model = opened.load<Dust3r>(*ops, {});
  activations.trim();
  Tensor image(activations, DType::kF32, {1, param.height, param.width, 3});
  std::fill_n(image.data<float>(), image.shape().num_elements(), 0.5f);
  (void)model->forward(*ops, image, image);

  const PatchGrid grid = model->grid_of(image);
  const MemoryPlan plan = plan_dust3r(std::get<Dust3rConfig>(opened.config()), opened.num_parameters(), {grid, grid}, 0);
  const auto near = [](uint64_t predicted, size_t measured, const char* what) {
    EXPECT_LE(predicted, static_cast<uint64_t>(1.10 * static_cast<double>(measured)) + 4'000'000) << what;
    EXPECT_GE(predicted + 4'000'000, static_cast<uint64_t>(0.90 * static_cast<double>(measured))) << what;
  };
  near(plan.activations_bytes, activations.bytes_held(), "activations");
  near(plan.weights_bytes, weights.bytes_in_use(), "weights");
}

INSTANTIATE_TEST_SUITE_P(Dust3r, MemoryPlanTest,
                         testing::Values(PlanCase{"synthetic:dust3r-tiny", 224, 224}, PlanCase{"synthetic:dust3r-tiny", 320, 192},
                                         PlanCase{"synthetic:dust3r-tiny-linear", 512, 384},
                                         PlanCase{"synthetic:dust3r-tiny-linear", 128, 96},
                                         PlanCase{"synthetic:dust3r-tiny-linear", 256, 192}),
                         [](const auto& test) {
                           return std::to_string(test.param.width) + "x" + std::to_string(test.param.height) + "_" +
                                  std::to_string(test.index);
                         });

struct VggtCase {
  int64_t num_frames;
  int64_t width;
  int64_t height;
};

class VggtMemoryPlanTest : public testing::TestWithParam<VggtCase> {};

// As VggtRun does it: what the aggregator leaves is given back before the heads begin.
TEST_P(VggtMemoryPlanTest, IsNearWhatARunHolds) {
  const auto [num_frames, width, height] = GetParam();
  ThreadPool pool(2);
  Arena weights;
  Arena activations;
  const std::unique_ptr<Ops> ops = make_ops(Device::kCpu, {pool, weights, activations});
  const OpenedModel opened = OpenedModel::open("synthetic:vggt-tiny");
  const std::unique_ptr<Vggt> model = opened.load<Vggt>(*ops, {});
  activations.trim();
  Aggregated aggregated;
  size_t held = 0;
  {
    std::vector<Tensor> images;
    for (int64_t s = 0; s < num_frames; ++s) {
      images.emplace_back(activations, DType::kF32, Shape{1, height, width, 3});
      std::fill_n(images.back().data<float>(), images.back().shape().num_elements(), 0.1f * static_cast<float>(s));
    }
    aggregated = model->aggregate(*ops, std::vector<TensorView>(images.begin(), images.end()));
    held = activations.bytes_held();
  }
  activations.trim();
  (void)model->camera(*ops, aggregated);
  for (int64_t s = 0; s < num_frames; ++s) (void)model->dense(*ops, aggregated, s);
  held = std::max(held, activations.bytes_held());
  const MemoryPlan plan = plan_vggt(std::get<VggtConfig>(opened.config()), opened.num_parameters(), num_frames, {height / 14, width / 14});
  const auto near = [](uint64_t predicted, size_t measured, const char* what) {
    EXPECT_LE(predicted, static_cast<uint64_t>(1.10 * static_cast<double>(measured)) + 4'000'000) << what << " " << measured;
    EXPECT_GE(predicted + 4'000'000, static_cast<uint64_t>(0.90 * static_cast<double>(measured))) << what << " " << measured;
  };
  near(plan.activations_bytes, held, "activations");
  near(plan.weights_bytes, weights.bytes_in_use(), "weights");
}

INSTANTIATE_TEST_SUITE_P(Vggt, VggtMemoryPlanTest,
                         testing::Values(VggtCase{1, 70, 70}, VggtCase{3, 140, 98}, VggtCase{1, 280, 210}, VggtCase{24, 70, 42}),
                         [](const auto& test) {
                           return std::to_string(test.param.num_frames) + "x" + std::to_string(test.param.width) + "x" +
                                  std::to_string(test.param.height);
                         });

// As a session runs a pair with its pose.
TEST(MemoryPlan, ThePassWithTheViewsExchangedTakesTheMemoryOfTheFirst) {
  ThreadPool pool(2);
  Arena weights;
  Arena activations;
  const std::unique_ptr<Ops> ops = make_ops(Device::kCpu, {pool, weights, activations});
  const std::unique_ptr<Dust3r> model = OpenedModel::open("synthetic:dust3r-tiny").load<Dust3r>(*ops, {});
  activations.trim();
  Tensor image(activations, DType::kF32, {1, 64, 96, 3});
  std::fill_n(image.data<float>(), image.shape().num_elements(), 0.5f);
  const EncodedPair encoded = model->encode_pair(*ops, image, image, {});
  const PairFeatures pair{.features = encoded.features, .grids = {model->grid_of(image), model->grid_of(image)}};
  std::array<DecodedView, 2> decoded = model->decode(*ops, pair.features, pair.grids, {});
  for (size_t v = 0; v < 2; ++v) (void)model->head(*ops, v, pair.features[v], decoded[v]);
  const size_t held = activations.bytes_held();
  decoded = {};
  (void)run_swapped_pass(*model, *ops, pair, true, {});
  EXPECT_EQ(activations.bytes_held(), held);
}

TEST(MemoryPlan, RefusesWithTheBytesNeeded) {
  const MemoryPlan plan{.weights_bytes = 1000, .activations_bytes = 200, .other_bytes = 30};
  EXPECT_NO_THROW(require_memory(plan, 1230));
  EXPECT_NO_THROW(require_memory(plan, 0));
  try {
    require_memory(plan, 1229);
    FAIL() << "accepted a run that does not fit";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kLimitExceeded);
    EXPECT_THAT(error.what(), testing::HasSubstr("1230 bytes"));
  }
}

}  // namespace
}  // namespace pointmap
