// Exactness at full size: VGGT-1B without its track head, on the kernels that users get.
#include <gtest/gtest.h>

#include <filesystem>

#include "golden_vggt.h"
#include "recon/preprocess.h"

namespace pointmap {
namespace {

class VggtFullGolden : public testing::Test {
 protected:
  // 4.8 GB of weights: made once for all tests.
  static void SetUpTestSuite() { model_ = std::make_unique<GoldenVggt>(VggtConfig::vggt_1b(), Device::kCpu); }
  static void TearDownTestSuite() { model_.reset(); }

  static std::string shared(const std::string& name) { return std::string(POINTMAP_SHARED_DIR) + "/" + name; }

  // As a user's run prepares it.
  static Tensor photo(const std::string& name) {
    const std::string path = shared("images/kitchen/" + name);
    const PreparedView view = prepare_view(read_image(path, decode_options_for(Preset::kPad518)), Preset::kPad518, path);
    Tensor image(model_->arena(), DType::kF32, {1, view.image.height, view.image.width, 3});
    rgb_to_unit_range(view.image, image.data<float>());
    return image;
  }

  void run_kitchen(const std::string& name, const std::vector<std::string>& photos) {
    const std::string path = shared("golden/" + name + ".npz");
    if (!std::filesystem::exists(path) || !std::filesystem::exists(shared("images/kitchen/00.png"))) {
      GTEST_SKIP() << "the kitchen photos and their golden data are not part of the repository; not found in " << POINTMAP_SHARED_DIR;
    }
    std::vector<Tensor> images;
    for (const std::string& file : photos) images.push_back(photo(file));
    model_->run(name, GoldenFile(path), std::vector<TensorView>(images.begin(), images.end()));
  }

  static std::unique_ptr<GoldenVggt> model_;
};

std::unique_ptr<GoldenVggt> VggtFullGolden::model_;

TEST_F(VggtFullGolden, Procedural518x392) {
  const std::string name = "vggt_full_procedural_518x392_s2";
  const Tensor first = procedural_image(518, 392, 0, model_->arena()), second = procedural_image(518, 392, 1, model_->arena());
  model_->run(name, GoldenFile(golden_path(name)), std::vector<TensorView>{first, second});
}

TEST_F(VggtFullGolden, KitchenPad518OneFrame) {
  run_kitchen("vggt_full_kitchen_pad518_s1", {"00.png"});
}

TEST_F(VggtFullGolden, KitchenPad518TwoFrames) {
  run_kitchen("vggt_full_kitchen_pad518_s2", {"00.png", "03.png"});
}

}  // namespace
}  // namespace pointmap
