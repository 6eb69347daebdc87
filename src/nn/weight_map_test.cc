#include "nn/weight_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "kernels/make_ops.h"
#include "nn/linear.h"

namespace pointmap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A checkpoint in memory that remembers what is loaded at the moment.
class FakeSource : public WeightSource {
 public:
  explicit FakeSource(std::map<std::string, Shape> shapes) : shapes_(std::move(shapes)) {}
  std::optional<Shape> shape_of(const std::string& name, const Shape&) override {
    const auto found = shapes_.find(name);
    return found == shapes_.end() ? std::nullopt : std::optional(found->second);
  }
  TensorView load(const std::string& name, const Shape& shape) override {
    std::vector<float>& values = loaded_[name];
    values.assign(static_cast<size_t>(shape.num_elements()), 1.0f);
    return TensorView(values.data(), DType::kF32, shape);
  }
  void release(const std::string& name) override { loaded_.erase(name); }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& [name, shape] : shapes_) names.push_back(name);
    return names;
  }
  size_t num_loaded() const { return loaded_.size(); }

 private:
  std::map<std::string, Shape> shapes_;
  std::map<std::string, std::vector<float>> loaded_;
};

TEST(WeightMap, ACheckFindsAllThatIsWrongAtOnce) {
  FakeSource source({{"fc1.weight", {8, 2}}, {"fc1.bias", {7}}, {"fc2.weight", {2, 8}}, {"extra", {1}}, {"mask_token", {1, 1, 2}}});
  WeightMap map(source);
  const WeightScope scope(map);
  const Mlp mlp(scope, 2, 4);
  scope.ignore("mask_token");
  const WeightReport report = map.report();
  EXPECT_THAT(report.missing, ElementsAre("fc2.bias [2]"));
  EXPECT_THAT(report.mismatched, ElementsAre("fc1.bias: file has [7], model wants [8]"));
  EXPECT_THAT(report.unexpected, ElementsAre("extra"));
  EXPECT_THAT(report.ignored, ElementsAre("mask_token"));
  EXPECT_EQ(report.num_parameters, 16 + 8 + 16 + 2);
  try {
    require_complete(report, "fake");
    FAIL() << "accepted a checkpoint that does not fit";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kCorruptData);
    for (const char* part : {"fake", "fc2.bias [2]", "file has [7]", "extra"}) EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(WeightMap, LoadsAndGivesEveryTensorBack) {
  FakeSource source({{"fc1.weight", {8, 2}}, {"fc1.bias", {8}}, {"fc2.weight", {2, 8}}, {"fc2.bias", {2}}});
  ThreadPool pool(1);
  Arena arena;
  const std::unique_ptr<Ops> ops = make_ops(Device::kReference, {pool, arena, arena});
  WeightMap map(source, *ops);
  const Mlp mlp(WeightScope(map), 2, 4);
  EXPECT_TRUE(map.report().ok());
  EXPECT_EQ(source.num_loaded(), 0u);
}

TEST(WeightMap, LoadWithoutCheckStopsAtAMissingTensor) {
  FakeSource source({});
  ThreadPool pool(1);
  Arena arena;
  const std::unique_ptr<Ops> ops = make_ops(Device::kReference, {pool, arena, arena});
  WeightMap map(source, *ops);
  EXPECT_THROW(Linear(WeightScope(map)["proj"], 2, 2), Error);
}

TEST(WeightMap, FindsATensorUnderItsOtherName) {
  FakeSource source({{"scratch.layer_rn.0.weight", {4, 3, 1, 1}}});
  WeightMap map(source);
  (void)WeightScope(map)["scratch"]["layer1_rn"].conv2d(
      {.in_channels = 3, .out_channels = 4, .kernel = 1, .geometry = {}, .has_bias = false, .alias = "scratch.layer_rn.0"});
  EXPECT_TRUE(map.report().ok());
}

}  // namespace
}  // namespace pointmap
