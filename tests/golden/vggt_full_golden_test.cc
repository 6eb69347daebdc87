// Exactness at full size: VGGT-1B without its track head, on the kernels that users get.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "golden_vggt.h"
#include "io/image/decode.h"
#include "io/image/resize.h"

namespace pointmap {
namespace {

class VggtFullGolden : public testing::Test {
 protected:
  // 4.8 GB of weights: made once for all tests.
  static void SetUpTestSuite() { model_ = std::make_unique<GoldenVggt>(VggtConfig::vggt_1b(), Device::kCpu); }
  static void TearDownTestSuite() { model_.reset(); }

  static std::string shared(const std::string& name) { return std::string(POINTMAP_SHARED_DIR) + "/" + name; }

  // A kitchen photo resized to 518x350 as Pillow's bicubic does, between 84 white rows above and below.
  static Tensor photo(const std::string& name) {
    constexpr int kSide = 518, kHeight = 350, kPadding = 84;
    const Image resized = resize_image(read_image(shared("images/kitchen/" + name)).image, kSide, kHeight, ResizeFilter::kBicubic);
    Tensor image(model_->arena(), DType::kF32, {1, kSide, kSide, 3});
    std::fill_n(image.data<float>(), image.shape().num_elements(), 1.0f);
    float* const first = image.data<float>() + kPadding * kSide * 3;
    for (size_t i = 0; i < resized.rgb.size(); ++i) first[i] = static_cast<float>(resized.rgb[i]) / 255.0f;
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
