#include "golden_dust3r.h"

#include "base/cpu_info.h"
#include "nn/synthetic_weights.h"

namespace pointmap {

GoldenDust3r::GoldenDust3r(const Dust3rConfig& config, Device device)
    : pool_(static_cast<size_t>(read_cpu_info().available_cores)), ops_(make_ops(device, {pool_, weights_, activations_})) {
  SyntheticWeights weights(pool_, activations_);
  load(config, weights);
}

GoldenDust3r::GoldenDust3r(const Dust3rConfig& config, Device device, WeightSource& weights)
    : pool_(static_cast<size_t>(read_cpu_info().available_cores)), ops_(make_ops(device, {pool_, weights_, activations_})) {
  load(config, weights);
}

void GoldenDust3r::load(const Dust3rConfig& config, WeightSource& weights) {
  WeightMap map(weights, *ops_);
  model_ = std::make_unique<Dust3r>(WeightScope(map), config);
  activations_.trim();
}

void GoldenDust3r::run(const std::string& name, const GoldenFile& golden, TensorView image1, TensorView image2) {
  GoldenJudge judge(name, ops_->name(), golden);
  ops_->set_probe([&](std::string_view stage, TensorView value) { judge.see(stage, value); });
  (void)model_->forward(*ops_, image1, image2);
  ops_->set_probe({});
  judge.expect_all_seen();
}

}  // namespace pointmap
