#include "golden_run.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "base/cpu_info.h"
#include "nn/synthetic_weights.h"

namespace pointmap {
namespace {

// The allowance of the project: RMS at most 3 times, maximum at most 6 times what PyTorch's own float32 run is off the truth.
constexpr double kMaxRmsRatio = 3;
constexpr double kMaxMaxRatio = 6;

}  // namespace

GoldenModel::GoldenModel(const Dust3rConfig& config, Device device)
    : pool_(static_cast<size_t>(read_cpu_info().available_cores)), ops_(make_ops(device, {pool_, weights_, activations_})) {
  SyntheticWeights weights(pool_, activations_);
  WeightMap map(weights, *ops_);
  model_ = std::make_unique<Dust3r>(WeightScope(map), config);
  activations_.trim();
}

void GoldenModel::run(const std::string& name, const GoldenFile& golden, TensorView image1, TensorView image2) {
  std::set<std::string> seen;
  ops_->set_probe([&](std::string_view stage, TensorView value) {
    if (!golden.has(stage)) return;  // some files have the outputs only
    seen.insert(std::string(stage));
    const StageError error = golden.compare(stage, value);
    std::printf("GOLDEN %-28s %-10s %-16s rms %.2e torch %.2e ratio %5.2f  max %.2e torch %.2e ratio %5.2f\n", name.c_str(),
                std::string(ops_->name()).c_str(), error.stage.c_str(), error.rms, error.torch_rms, error.rms_ratio(), error.max,
                error.torch_max, error.max_ratio());
    EXPECT_LE(error.rms_ratio(), kMaxRmsRatio) << stage;
    EXPECT_LE(error.max_ratio(), kMaxMaxRatio) << stage;
  });
  (void)model_->forward(*ops_, image1, image2);
  ops_->set_probe({});
  for (const std::string& stage : golden.stages()) EXPECT_TRUE(seen.contains(stage)) << "no probe shows " << stage;
}

std::string golden_path(const std::string& name) {
  return std::string(POINTMAP_SOURCE_DIR) + "/tests/golden/" + name + ".npz";
}

Tensor image_from_file(const NpzArray& array, Arena& arena) {
  const int64_t height = array.shape[2];
  const int64_t width = array.shape[3];
  Tensor image(arena, DType::kF32, {1, height, width, 3});
  for (int64_t c = 0; c < 3; ++c) {
    for (int64_t p = 0; p < height * width; ++p) {
      image.data<float>()[p * 3 + c] = array.as<float>()[static_cast<size_t>(c * height * width + p)];
    }
  }
  return image;
}

Tensor procedural_image(int64_t width, int64_t height, int64_t seed, Arena& arena) {
  Tensor image(arena, DType::kF32, {1, height, width, 3});
  float* out = image.data<float>();
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < 3; ++c) {
        const int64_t value = (((x * (3 + 2 * c + seed) + y * (5 + c)) >> 1) ^ ((x >> 4) * (y >> 4) * 7) ^ (seed * 29)) & 255;
        *out++ = (static_cast<float>(value) / 255.0f - 0.5f) / 0.5f;
      }
    }
  }
  return image;
}

}  // namespace pointmap
