#include "golden_run.h"

#include <gtest/gtest.h>

#include <cstdio>
namespace pointmap {
namespace {

// The allowance of the project: RMS at most 3 times, maximum at most 6 times what PyTorch's own float32 run is off the truth.
constexpr double kMaxRmsRatio = 3;
constexpr double kMaxMaxRatio = 6;

}  // namespace

void GoldenJudge::see(std::string_view stage, TensorView value) {
  if (!golden_.has(stage)) return;
  seen_.insert(std::string(stage));
  const StageError error = golden_.compare(stage, value);
  std::printf("GOLDEN %-32s %-10s %-22s rms %.2e torch %.2e ratio %5.2f  max %.2e torch %.2e ratio %5.2f\n", name_.c_str(), device_.c_str(),
              error.stage.c_str(), error.rms, error.torch_rms, error.rms_ratio(), error.max, error.torch_max, error.max_ratio());
  EXPECT_LE(error.rms_ratio(), kMaxRmsRatio) << stage;
  EXPECT_LE(error.max_ratio(), kMaxMaxRatio) << stage;
}

void GoldenJudge::expect_all_seen() const {
  for (const std::string& stage : golden_.stages()) EXPECT_TRUE(seen_.contains(stage)) << "no probe shows " << stage;
}

std::string golden_path(const std::string& name) {
  return std::string(POINTMAP_SOURCE_DIR) + "/tests/golden/" + name + ".npz";
}

Tensor image_from_file(const NpzArray& array, int64_t index, Arena& arena) {
  const int64_t height = array.shape[2];
  const int64_t width = array.shape[3];
  Tensor image(arena, DType::kF32, {1, height, width, 3});
  for (int64_t c = 0; c < 3; ++c) {
    for (int64_t p = 0; p < height * width; ++p) {
      image.data<float>()[p * 3 + c] = array.as<float>()[static_cast<size_t>(((index * 3 + c) * height * width) + p)];
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
        *out++ = static_cast<float>(value) / 255.0f;
      }
    }
  }
  return image;
}

}  // namespace pointmap
