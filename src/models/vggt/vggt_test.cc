#include "models/vggt/vggt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/make_ops.h"
#include "nn/listed_weights_testing.h"
#include "nn/synthetic_weights.h"

namespace pointmap {
namespace {

WeightReport check(WeightSource& source, const VggtConfig& config) {
  WeightMap map(source);
  const Vggt model(WeightScope(map), config);
  return map.report();
}

TEST(Vggt, AsksForExactlyTheTensorsOfThePublishedModel) {
  ListedWeights source("vggt_1b.names.tsv");
  const WeightReport report = check(source, VggtConfig::vggt_1b());
  EXPECT_NO_THROW(require_complete(report, "vggt-1b"));
  EXPECT_EQ(report.num_parameters, 1'190'596'120 - 1024);  // specification, section 5, without the mask token
  EXPECT_EQ(report.num_tensors, 1'403u - 1u);
  EXPECT_THAT(report.ignored, testing::ElementsAre("aggregator.patch_embed.mask_token"));
}

TEST(Vggt, AsksForExactlyTheTensorsOfTheTinyModel) {
  ListedWeights source("vggt_tiny.names.tsv");
  EXPECT_NO_THROW(require_complete(check(source, VggtConfig::tiny()), "vggt-tiny"));
}

TEST(Vggt, LeavesTheTrackHeadOut) {
  ListedWeights source("vggt_1b.names.tsv");
  source.insert("track_head.tracker.query_ref_token", {1, 2, 388});
  source.insert("tracker.query_ref_token", {1, 2, 388});
  const WeightReport report = check(source, VggtConfig::vggt_1b());
  EXPECT_THAT(report.ignored, testing::Contains("track_head.tracker.query_ref_token"));
  EXPECT_THAT(report.unexpected, testing::ElementsAre("tracker.query_ref_token"));
}

TEST(Vggt, RefusesConfigurationsItCannotCompute) {
  const auto refused = [](const auto& change) {
    VggtConfig config;
    change(config);
    EXPECT_THROW(config.validate(), Error);
  };
  refused([](VggtConfig& c) { c.num_heads = 3; });
  refused([](VggtConfig& c) { c.dino_num_heads = 7; });
  refused([](VggtConfig& c) { c.camera_num_heads = 5; });
  refused([](VggtConfig& c) { c.depth = 23; });  // head_layers end at 23
  refused([](VggtConfig& c) { c.depth = 1'000'000; });
  refused([](VggtConfig& c) { c.embed_dim = 0; });
  refused([](VggtConfig& c) { c.patch_size = 16; });
  refused([](VggtConfig& c) { c.image_size = 520; });
  refused([](VggtConfig& c) { c.rope_base = 0; });
  refused([](VggtConfig& c) { c.head_layers = {4, 17, 11, 23}; });
  EXPECT_NO_THROW(VggtConfig::vggt_1b().validate());
  EXPECT_NO_THROW(VggtConfig::tiny().validate());
}

// Every part of the network, as small as it can be.
VggtConfig smallest() {
  VggtConfig config;
  config.image_size = 42;
  config.embed_dim = 32;
  config.dino_depth = 2;
  config.dino_num_heads = 2;
  config.depth = 5;
  config.num_heads = 2;
  config.head_layers = {0, 1, 3, 4};
  config.camera_depth = 1;
  config.camera_num_heads = 2;
  config.dpt_layer_dims = {8, 12, 16, 20};
  config.dpt_feature_dim = 16;
  config.dpt_last_dim = 4;
  return config;
}

// All outputs for some frames, end to end.
struct Outputs {
  std::vector<float> pose_enc;                        // [S, 9]
  std::vector<std::vector<std::vector<float>>> maps;  // by frame: depth, its confidence, points, theirs
};

std::vector<float> values_of(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.shape().num_elements()};
}

class SmallModel {
 public:
  explicit SmallModel(size_t num_threads = 2, Device device = Device::kCpu)
      : pool_(num_threads), ops_(make_ops(device, {pool_, arena_, arena_})) {
    SyntheticWeights weights(pool_, arena_);
    WeightMap map(weights, *ops_);
    model_ = std::make_unique<Vggt>(WeightScope(map), smallest());
  }

  Tensor image(int64_t height, int64_t width, int seed) {
    Tensor image(arena_, DType::kF32, {1, height, width, 3});
    for (int64_t i = 0; i < image.shape().num_elements(); ++i) {
      image.data<float>()[i] = static_cast<float>((i * (2 * seed + 3) / 7) % 256) / 255;
    }
    return image;
  }

  // Frames of height x width, one for each seed.
  Outputs run(int64_t height, int64_t width, const std::vector<int>& seeds) {
    std::vector<Tensor> images;
    for (const int seed : seeds) images.push_back(image(height, width, seed));
    const std::vector<TensorView> views(images.begin(), images.end());
    const Aggregated aggregated = model_->aggregate(*ops_, views);
    Outputs outputs{.pose_enc = values_of(model_->camera(*ops_, aggregated)), .maps = {}};
    for (int64_t frame = 0; frame < aggregated.num_frames; ++frame) {
      const FrameMaps maps = model_->dense(*ops_, aggregated, frame);
      EXPECT_EQ(maps.depth.shape(), (Shape{height, width}));
      EXPECT_EQ(maps.depth_conf.shape(), (Shape{height, width}));
      EXPECT_EQ(maps.world_points.shape(), (Shape{height, width, 3}));
      EXPECT_EQ(maps.world_points_conf.shape(), (Shape{height, width}));
      outputs.maps.push_back(
          {values_of(maps.depth), values_of(maps.depth_conf), values_of(maps.world_points), values_of(maps.world_points_conf)});
    }
    return outputs;
  }

  Ops& ops() { return *ops_; }
  const Vggt& model() const { return *model_; }
  Arena& arena() { return arena_; }

 private:
  ThreadPool pool_;
  Arena arena_;
  std::unique_ptr<Ops> ops_;
  std::unique_ptr<Vggt> model_;
};

std::vector<float> pose_of(const Outputs& outputs, size_t frame) {
  const auto begin = outputs.pose_enc.begin() + static_cast<int64_t>(9 * frame);
  return {begin, begin + 9};
}

TEST(VggtFrames, AllButTheFirstMayComeInAnyOrder) {
  SmallModel model;
  const Outputs outputs = model.run(42, 56, {0, 1, 2, 3}), permuted = model.run(42, 56, {0, 3, 1, 2});
  const std::vector<size_t> from = {0, 3, 1, 2};
  for (size_t frame = 0; frame < 4; ++frame) {
    EXPECT_EQ(pose_of(permuted, frame), pose_of(outputs, from[frame])) << frame;
    EXPECT_EQ(permuted.maps[frame], outputs.maps[from[frame]]) << frame;
  }
  EXPECT_NE(pose_of(model.run(42, 56, {1, 0, 2, 3}), 1), pose_of(outputs, 0));  // the frame of reference matters
}

TEST(VggtFrames, OfEqualPixelsAreToldApartByNothing) {
  SmallModel model;
  const Outputs outputs = model.run(28, 28, {0, 1, 0, 1});
  EXPECT_EQ(outputs.maps[1], outputs.maps[3]);
  EXPECT_EQ(pose_of(outputs, 1), pose_of(outputs, 3));
  EXPECT_NE(pose_of(outputs, 0), pose_of(outputs, 2));  // but the first frame is marked
}

TEST(VggtFrames, OneFrameIsEnoughAndAnyMultipleOf14Fits) {
  SmallModel model;
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{42, 42}, {14, 14}, {14, 70}, {84, 28}}) {
    SCOPED_TRACE(testing::Message() << width << "x" << height);
    const Outputs outputs = model.run(height, width, {5});
    EXPECT_EQ(outputs.pose_enc.size(), 9u);
    for (const float depth : outputs.maps[0][0]) ASSERT_TRUE(depth > 0 && std::isfinite(depth));
    for (const float confidence : outputs.maps[0][1]) ASSERT_TRUE(confidence > 1 && std::isfinite(confidence));
  }
}

TEST(VggtFrames, HaveTheSameBitsForAnyNumberOfThreads) {
  SmallModel one(1), three(3);
  const Outputs outputs = one.run(56, 42, {0, 1, 2}), same = three.run(56, 42, {0, 1, 2});
  EXPECT_EQ(same.pose_enc, outputs.pose_enc);
  EXPECT_EQ(same.maps, outputs.maps);
}

TEST(VggtFrames, AreRefusedWhenTheyDoNotFit) {
  SmallModel model;
  const Tensor square = model.image(28, 28, 0), wide = model.image(28, 42, 0), odd = model.image(28, 30, 0);
  const auto aggregate = [&](const std::vector<TensorView>& images) { (void)model.model().aggregate(model.ops(), images); };
  EXPECT_THROW(aggregate({}), Error);
  EXPECT_THROW(aggregate({square, wide}), Error);
  EXPECT_THROW(aggregate({odd}), Error);
  const Aggregated aggregated = model.model().aggregate(model.ops(), std::vector<TensorView>{square});
  EXPECT_THROW((void)model.model().dense(model.ops(), aggregated, 1), Error);
  EXPECT_THROW((void)model.model().dense(model.ops(), aggregated, -1), Error);
}

TEST(VggtProgress, CountsEveryBlockAndStopsBetweenThemWhenCancelled) {
  SmallModel model;
  const Tensor image = model.image(28, 28, 0);
  const std::vector<TensorView> images = {image, image, image};
  CancelFlag cancel;
  std::vector<std::string> steps;
  Progress progress{
      .on_step = [&](std::string_view stage, int done,
                     int total) { steps.push_back(std::string(stage) + " " + std::to_string(done) + "/" + std::to_string(total)); },
      .cancel = &cancel};
  const Aggregated aggregated = model.model().aggregate(model.ops(), images, progress);
  (void)model.model().camera(model.ops(), aggregated, progress);
  for (int64_t frame = 0; frame < 3; ++frame) (void)model.model().dense(model.ops(), aggregated, frame, progress);
  EXPECT_EQ(steps.size(), 3u * 2u + 2u * 5u + 4u + 3u * 2u);
  EXPECT_EQ(std::set<std::string>(steps.begin(), steps.end()).size(), steps.size());  // each step once
  EXPECT_THAT(steps,
              testing::IsSupersetOf({"image encoder 0/6", "image encoder 5/6", "aggregator 9/10", "camera head 3/4", "dense heads 5/6"}));

  progress.on_step = [&](std::string_view stage, int done, int) {
    if (stage == "aggregator" && done == 3) cancel.request();
  };
  try {
    (void)model.model().aggregate(model.ops(), images, progress);
    FAIL() << "ran to the end";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kCancelled);
  }
}

// What grows with the number of frames is at its most in the last pair: three levels of two halves are kept, the frame block's output
// waits to be the seventh, and a block has its normalised input, Q, K, V, the context and its output. On the reference, whose ops
// take no memory of their own.
TEST(VggtMemory, GrowsByThirteenTimesTheTokensOfAFrame) {
  SmallModel model(2, Device::kReference);
  const Tensor image = model.image(56, 56, 0);
  const auto peak_bytes = [&](size_t num_frames) {
    (void)model.model().aggregate(model.ops(), std::vector<TensorView>(num_frames, image));
    return model.arena().peak_bytes_in_use();
  };
  const size_t tokens_bytes = (5 + 16) * 32 * sizeof(float);       // of one frame
  const size_t sixteen = peak_bytes(16), twenty = peak_bytes(20);  // packing the weights took less
  EXPECT_GE(twenty - sixteen, 4 * 13 * tokens_bytes);
  EXPECT_LE(twenty - sixteen, 4 * 13 * tokens_bytes * 4 / 3);  // the arena reuses blocks that are up to a third too large
}

}  // namespace
}  // namespace pointmap
