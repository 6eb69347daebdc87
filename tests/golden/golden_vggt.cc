#include "golden_vggt.h"

#include <algorithm>

#include "base/cpu_info.h"
#include "models/vggt/frame_order.h"
#include "nn/synthetic_weights.h"

namespace pointmap {
namespace {

// Shown for each frame by itself, in the caller's order.
bool is_dense(std::string_view stage) {
  return stage.find("_head_") != std::string_view::npos || stage.starts_with("depth") || stage.starts_with("world_points");
}

// `values` has as many equal parts as `order` has entries; part i goes to place order[i].
std::vector<float> reordered(const std::vector<float>& values, const std::vector<size_t>& order) {
  std::vector<float> result(values.size());
  const auto part = static_cast<int64_t>(values.size() / order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    std::copy_n(values.begin() + static_cast<int64_t>(i) * part, part, result.begin() + static_cast<int64_t>(order[i]) * part);
  }
  return result;
}

}  // namespace

void FrameCollector::see(std::string_view stage, TensorView value) {
  if (!golden_.has(stage)) return;
  const float* first = value.data<float>();
  std::vector<float>& parts = parts_[std::string(stage)];
  parts.insert(parts.end(), first, first + value.shape().num_elements());
  if (static_cast<int64_t>(parts.size()) < golden_.shape_of(stage).num_elements()) return;
  judge(stage, is_dense(stage) ? parts : reordered(parts, order_));
  parts_.erase(parts_.find(stage));
}

void FrameCollector::judge(std::string_view stage, const std::vector<float>& values) const {
  const Shape shape = golden_.shape_of(stage);
  POINTMAP_CHECK(
      static_cast<int64_t>(values.size()) == shape.num_elements(),
      "stage '" + std::string(stage) + "': ours has " + std::to_string(values.size()) + " elements, golden " + shape.to_string());
  judge_.see(stage, TensorView(values.data(), DType::kF32, shape));
}

GoldenVggt::GoldenVggt(const VggtConfig& config, Device device)
    : pool_(static_cast<size_t>(read_cpu_info().available_cores)), ops_(make_ops(device, {pool_, weights_, activations_})) {
  SyntheticWeights weights(pool_, activations_);
  WeightMap map(weights, *ops_);
  model_ = std::make_unique<Vggt>(WeightScope(map), config);
  activations_.trim();
}

void GoldenVggt::run(const std::string& name, const GoldenFile& golden, std::span<const TensorView> images) {
  GoldenJudge judge(name, ops_->name(), golden);
  FrameCollector collector(judge, golden, frame_order(*ops_, images));
  ops_->set_probe([&](std::string_view stage, TensorView value) { collector.see(stage, value); });
  const Aggregated aggregated = model_->aggregate(*ops_, images);
  (void)model_->camera(*ops_, aggregated);
  for (int64_t frame = 0; frame < aggregated.num_frames; ++frame) (void)model_->dense(*ops_, aggregated, frame);
  ops_->set_probe({});
  judge.expect_all_seen();
}

}  // namespace pointmap
