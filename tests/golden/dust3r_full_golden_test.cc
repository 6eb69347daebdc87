// Exactness at full size: the published DUSt3R configuration on the kernels that users get.
#include <gtest/gtest.h>

#include <filesystem>

#include "golden_dust3r.h"
#include "recon/preprocess.h"

namespace pointmap {
namespace {

class FullGolden : public testing::Test {
 protected:
  // 2.3 GB of weights: made once for all tests.
  static void SetUpTestSuite() { model_ = std::make_unique<GoldenDust3r>(Dust3rConfig::large_512_dpt(), Device::kCpu); }
  static void TearDownTestSuite() { model_.reset(); }

  static std::string shared(const std::string& name) { return std::string(POINTMAP_SHARED_DIR) + "/" + name; }

  Tensor photo(const std::string& name, Preset preset) {
    const std::string path = shared("images/kitchen/" + name);
    const PreparedView view = prepare_view(read_image(path, decode_options_for(preset)), preset, path);
    Tensor image(model_->arena(), DType::kF32, {1, view.image.height, view.image.width, 3});
    normalize_rgb(view.image, image.data<float>());
    return image;
  }

  void run_kitchen(const std::string& name, Preset preset) {
    const std::string path = shared("golden/" + name + ".npz");
    if (!std::filesystem::exists(path) || !std::filesystem::exists(shared("images/kitchen/00.png"))) {
      GTEST_SKIP() << "the kitchen photos and their golden data are not part of the repository; not found in " << POINTMAP_SHARED_DIR;
    }
    model_->run(name, GoldenFile(path), photo("00.png", preset), photo("03.png", preset));
  }

  static std::unique_ptr<GoldenDust3r> model_;
};

std::unique_ptr<GoldenDust3r> FullGolden::model_;

TEST_F(FullGolden, Procedural512x384) {
  const std::string name = "dust3r_full_procedural_512x384";
  const auto image = [](int64_t seed) {
    Tensor rgb = procedural_image(512, 384, seed, model_->arena());
    for (int64_t i = 0; i < rgb.shape().num_elements(); ++i) rgb.data<float>()[i] = (rgb.data<float>()[i] - 0.5f) / 0.5f;
    return rgb;
  };
  model_->run(name, GoldenFile(golden_path(name)), image(0), image(1));
}

TEST_F(FullGolden, KitchenPad512) {
  run_kitchen("dust3r_full_kitchen_pad512", Preset::kPad512);
}

TEST_F(FullGolden, Kitchen512x336) {
  run_kitchen("dust3r_full_kitchen_512x336", Preset::kDust3r);
}

}  // namespace
}  // namespace pointmap
