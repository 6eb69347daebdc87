// The parts that a pair's pose shares between passes, against whole passes that share nothing: every bit.
#include "recon/swapped_pass.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/make_ops.h"
#include "recon/feature_cache.h"
#include "recon/model_loader.h"
#include "recon/preprocess.h"

namespace pointmap {
namespace {

Image picture(int width, int height, int seed) {
  Image image{width, height, {}};
  for (int i = 0; i < width * height * 3; ++i) image.rgb.push_back(static_cast<uint8_t>((i * (7 + seed) + (i >> 6) * 13) & 255));
  return image;
}

class SharedParts : public testing::Test {
 protected:
  void load(const std::string& model) { network_ = OpenedModel::open(model).load<Dust3r>(*ops_, {}); }
  PatchGrid grid_of(const Image& image) const { return {image.height / 16, image.width / 16}; }
  Tensor input(const Image& image) {
    Tensor tensor(activations_, DType::kF32, {1, image.height, image.width, 3});
    normalize_rgb(image, tensor.data<float>());
    return tensor;
  }
  HostPointmap whole_pass(const Image& first, const Image& second, size_t view) {
    return download_pointmap(*ops_, std::move(network_->forward(*ops_, input(first), input(second))[view].pointmap));
  }
  void expect_same_maps(const Image& a, const Image& b) {
    FeatureCache cache;
    const PairFeatures pair{.features = cache.encode_pair(*network_, *ops_, {&a, &b}, {}), .grids = {grid_of(a), grid_of(b)}};
    const std::array<DecodedView, 2> decoded = network_->decode(*ops_, pair.features, pair.grids, {});
    for (size_t v = 0; v < 2; ++v) {
      const HostPointmap map = download_pointmap(*ops_, network_->head(*ops_, v, pair.features[v], decoded[v]).pointmap);
      expect_equal(map, whole_pass(a, b, v));
    }
    const SwappedPass swapped = run_swapped_pass(*network_, *ops_, pair, true, {});
    expect_equal(swapped.second, whole_pass(b, a, 0));
    expect_equal(swapped.first, whole_pass(b, a, 1));
    const SwappedPass three = run_swapped_pass(*network_, *ops_, pair, false, {});
    expect_equal(three.second, swapped.second);
    EXPECT_TRUE(three.first.points.empty());
  }
  void expect_equal(const HostPointmap& a, const HostPointmap& b) {
    EXPECT_EQ(a.points, b.points);
    EXPECT_EQ(a.confidence, b.confidence);
  }

  ThreadPool pool_{2};
  Arena weights_;
  Arena activations_;
  std::unique_ptr<Ops> ops_ = make_ops(Device::kCpu, {pool_, weights_, activations_});
  std::unique_ptr<Dust3r> network_;
};

TEST_F(SharedParts, GiveTheBitsOfTwoWholePasses) {
  load("synthetic:dust3r-tiny");
  expect_same_maps(picture(48, 32, 0), picture(48, 32, 1));
  load("synthetic:dust3r-tiny-linear");
  expect_same_maps(picture(64, 48, 0), picture(64, 48, 1));
  expect_same_maps(picture(48, 64, 0), picture(80, 48, 1));
}

TEST_F(SharedParts, ThreePairsOverThreePicturesEncodeThreeTimes) {
  load("synthetic:dust3r-tiny-linear");
  const Image a = picture(64, 48, 0);
  const Image b = picture(64, 48, 1);
  const Image c = picture(48, 64, 2);
  FeatureCache cache;
  const auto encode = [&](const Image& first, const Image& second) { return cache.encode_pair(*network_, *ops_, {&first, &second}, {}); };
  // What an encoder call for each picture alone says.
  const auto expect_alone = [&](TensorView got, const Image& image) {
    const Tensor alone = network_->encode(*ops_, input(image), {});
    ASSERT_EQ(got.shape(), alone.shape());
    EXPECT_TRUE(std::equal(alone.data<float>(), alone.data<float>() + alone.shape().num_elements(), got.data<float>()));
  };
  encode(a, b);
  encode(b, c);
  const auto features = encode(a, c);
  EXPECT_EQ(cache.num_encoded(), 3u);
  expect_alone(features[0], a);
  expect_alone(features[1], c);
  const auto same = encode(b, b);
  EXPECT_EQ(cache.num_encoded(), 3u);
  EXPECT_EQ(same[0].raw(), same[1].raw());
}

TEST_F(SharedParts, TheCacheIsBoundedAndForgetsTheOldest) {
  load("synthetic:dust3r-tiny-linear");
  std::vector<Image> pictures;
  for (int i = 0; i < 5; ++i) pictures.push_back(picture(32, 32, i));
  FeatureCache cache(3);
  for (size_t i = 0; i + 1 < pictures.size(); ++i) cache.encode_pair(*network_, *ops_, {&pictures[i], &pictures[i + 1]}, {});
  EXPECT_EQ(cache.num_encoded(), 5u);
  // 32x32x3 bytes and 2x2 tokens of 128 floats each.
  EXPECT_EQ(cache.bytes(), 3u * (32 * 32 * 3 + 4 * 128 * 4));
  cache.encode_pair(*network_, *ops_, {&pictures[4], &pictures[2]}, {});  // both known
  EXPECT_EQ(cache.num_encoded(), 5u);
  cache.encode_pair(*network_, *ops_, {&pictures[0], &pictures[2]}, {});  // the first was forgotten
  EXPECT_EQ(cache.num_encoded(), 6u);
  EXPECT_THROW(FeatureCache(1), Error);
}

TEST_F(SharedParts, ACancelledEncodingLeavesNothingHalfKnown) {
  load("synthetic:dust3r-tiny-linear");
  const Image a = picture(32, 32, 0);
  const Image b = picture(32, 32, 1);
  FeatureCache cache;
  CancelFlag cancel;
  cancel.request();
  EXPECT_THROW(cache.encode_pair(*network_, *ops_, {&a, &b}, {.on_step = {}, .cancel = &cancel}), Error);
  EXPECT_EQ(cache.num_encoded(), 0u);
  EXPECT_EQ(cache.bytes(), 0u);
}

}  // namespace
}  // namespace pointmap
