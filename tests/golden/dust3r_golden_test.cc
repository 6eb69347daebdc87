// Exactness: every stage of every golden DUSt3R run, on the device that users get and on the slow reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "base/cpu_info.h"
#include "golden_file.h"
#include "kernels/make_ops.h"
#include "models/dust3r/dust3r.h"
#include "nn/synthetic_weights.h"

namespace pointmap {
namespace {

// The allowance of the project: RMS at most 3 times, maximum at most 6 times what PyTorch's own float32 run is off the truth.
constexpr double kMaxRmsRatio = 3;
constexpr double kMaxMaxRatio = 6;

enum class Images { kInFile, kProcedural };

struct GoldenCase {
  std::string file;  // without .npz
  Dust3rConfig config;
  Device device;
  Images images = Images::kInFile;
};

void PrintTo(const GoldenCase& c, std::ostream* out) {
  *out << c.file;
}

std::string golden_path(const std::string& file) {
  return std::string(POINTMAP_SOURCE_DIR) + "/tests/golden/" + file + ".npz";
}

// An image stored as (1, 3, H, W), as [1, H, W, 3].
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

// The integer pattern of the golden data's description, normalised as DUSt3R's loader does.
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

class Dust3rGolden : public testing::TestWithParam<GoldenCase> {};

TEST_P(Dust3rGolden, EveryStageIsAsCloseToTheTruthAsPyTorch) {
  const GoldenCase& param = GetParam();
  const GoldenFile golden(golden_path(param.file));
  ThreadPool pool(static_cast<size_t>(read_cpu_info().available_cores));
  Arena weights_arena;
  Arena activations_arena;
  const std::unique_ptr<Ops> ops = make_ops(param.device, {pool, weights_arena, activations_arena});
  SyntheticWeights weights(pool, activations_arena);
  WeightMap map(weights, *ops);
  const Dust3r model(WeightScope(map), param.config);

  const bool in_file = param.images == Images::kInFile;
  const Tensor image1 =
      in_file ? image_from_file(golden.npz().array("img1"), activations_arena) : procedural_image(512, 384, 0, activations_arena);
  const Tensor image2 =
      in_file ? image_from_file(golden.npz().array("img2"), activations_arena) : procedural_image(512, 384, 1, activations_arena);

  std::set<std::string> seen;
  std::vector<StageError> errors;
  ops->set_probe([&](std::string_view name, TensorView value) {
    seen.insert(std::string(name));
    errors.push_back(golden.compare(name, value));
  });
  (void)model.forward(*ops, image1, image2);

  for (const std::string& stage : golden.stages()) EXPECT_TRUE(seen.contains(stage)) << "no probe shows " << stage;
  for (const StageError& error : errors) {
    std::printf("GOLDEN %-28s %-10s %-18s rms %.2e torch %.2e ratio %5.2f  max %.2e torch %.2e ratio %5.2f\n", param.file.c_str(),
                std::string(ops->name()).c_str(), error.stage.c_str(), error.rms, error.torch_rms, error.rms_ratio(), error.max,
                error.torch_max, error.max_ratio());
    EXPECT_LE(error.rms_ratio(), kMaxRmsRatio) << error.stage;
    EXPECT_LE(error.max_ratio(), kMaxMaxRatio) << error.stage;
  }
}

std::vector<GoldenCase> tiny_cases(Device device) {
  const Dust3rConfig dpt = Dust3rConfig::tiny(Dust3rConfig::Head::kDpt);
  const Dust3rConfig linear = Dust3rConfig::tiny(Dust3rConfig::Head::kLinear);
  return {{"dust3r_tiny_64x48", dpt, device},       {"dust3r_tiny_48x64", dpt, device}, {"dust3r_tiny_32x32", dpt, device},
          {"dust3r_tiny_80x48_32x32", dpt, device}, {"dust3r_tiny_mixed", dpt, device}, {"dust3r_tinylinear_64x48", linear, device}};
}

std::string case_name(const testing::TestParamInfo<GoldenCase>& info) {
  return info.param.file;
}

INSTANTIATE_TEST_SUITE_P(Reference, Dust3rGolden, testing::ValuesIn(tiny_cases(Device::kReference)), case_name);

}  // namespace
}  // namespace pointmap
