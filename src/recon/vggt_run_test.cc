// Cameras of VGGT's views in the pixels of the photos, and sizes of checkpoints. Whole runs are tested in tests/e2e.
#include "recon/vggt_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "geometry/pinhole.h"
#include "io/safetensors/safetensors_writer.h"
#include "recon/preprocess_testing.h"
#include "recon/vggt_config.h"

namespace pointmap {
namespace {

constexpr NetworkSize kVggt{.long_side = 518, .patch = 14, .fit = PatchFit::kScale};

struct Shot {
  const char* name;
  int stored_width, stored_height, exif_orientation;
  Preset preset;
  // By hand: photo pixels per network pixel, and network pixels of padding (or, negative, of cropping) left and above.
  double scale_x, scale_y;
  int left, top;
};

// Two pictures of one run under each preset: landscape, and a portrait stored lying (EXIF 6).
const std::vector<std::vector<Shot>> kRuns = {
    {{"landscape", 779, 520, 1, Preset::kKeep, 779.0 / 518, 520.0 / 350, 0, 84},
     {"portrait", 640, 480, 6, Preset::kKeep, 480.0 / 392, 640.0 / 518, 63, 0}},
    {{"landscape", 779, 520, 1, Preset::kPad518, 779.0 / 518, 520.0 / 350, 0, 84},
     {"portrait", 640, 480, 6, Preset::kPad518, 480.0 / 392, 640.0 / 518, 63, 0}},
    {{"landscape", 779, 520, 1, Preset::kVggtCrop, 779.0 / 518, 520.0 / 350, 0, 84},
     {"portrait", 480, 640, 1, Preset::kVggtCrop, 480.0 / 518, 640.0 / 686, 0, -84}},
};

// A point in the world, seen by a camera that a pose encoding describes: where the network's camera sees it and where the photo's camera
// sees it must be the same place of the photo.
TEST(VggtCamera, ProjectsAKnownPointToTheSamePlaceOfThePhoto) {
  // A quarter turn to the right about y (quaternion of length 2), at the centre (1, 2, 3): t = -R c. Fields of view 60 by 50 degrees.
  const double s = std::sqrt(2.0), degree = std::acos(-1.0) / 180;
  const PoseEncoding encoding = {3, -2, -1, 0, -s, 0, s, 50 * degree, 60 * degree};
  const Point3 in_world = {5, 2.5, 4};
  // R^T is the quarter turn that takes the camera's z to the world's x: x' = -z, z' = x.
  const Point3 in_cam = {-(in_world[2] - 3), in_world[1] - 2, in_world[0] - 1};
  for (const std::vector<Shot>& run : kRuns) {
    std::vector<PreparedView> views;
    for (const Shot& shot : run) {
      const DecodedImage photo = photo_of(plain(shot.stored_width, shot.stored_height, 7), shot.exif_orientation);
      views.push_back(prepare_view(photo, shot.preset, shot.name, kVggt));
    }
    pad_to_one_size({&views[0], &views[1]});
    for (size_t i = 0; i < run.size(); ++i) {
      const Shot& shot = run[i];
      SCOPED_TRACE(std::string(shot.name) + ", preset " + std::to_string(static_cast<int>(shot.preset)));
      const ViewTransform& transform = views[i].transform;
      const Camera camera = camera_of(encoding, transform);
      for (size_t axis = 0; axis < 3; ++axis) {
        EXPECT_NEAR(camera.world_from_cam.translation[axis], static_cast<double>(axis) + 1, 1e-12);
        EXPECT_NEAR(transform_point(inverse(camera.world_from_cam), in_world)[axis], in_cam[axis], 1e-12);
      }
      const double side = 518;  // of the network's picture, both
      ASSERT_EQ(transform.network_width, side);
      ASSERT_EQ(transform.network_height, side);
      const double network_u = side / 2 + side / 2 / std::tan(30 * degree) * in_cam[0] / in_cam[2];
      const double network_v = side / 2 + side / 2 / std::tan(25 * degree) * in_cam[1] / in_cam[2];
      const Pixel in_network = project(camera.network, in_cam);
      EXPECT_NEAR(in_network.u, network_u, 1e-9);
      EXPECT_NEAR(in_network.v, network_v, 1e-9);
      const Pixel in_photo = project(camera.original, in_cam);
      EXPECT_NEAR(in_photo.u, (network_u + 0.5 - shot.left) * shot.scale_x - 0.5, 1e-9);
      EXPECT_NEAR(in_photo.v, (network_v + 0.5 - shot.top) * shot.scale_y - 0.5, 1e-9);
      if (shot.exif_orientation != 6) continue;
      // Stored lying: a row of the upright photo is a column of the file, counted from the other side.
      const Pixel in_file = transform.stored_from_network(in_network);
      EXPECT_NEAR(in_file.u, in_photo.v, 1e-9);
      EXPECT_NEAR(in_file.v, shot.stored_height - 1 - in_photo.u, 1e-9);
    }
  }
}

class VggtCheckpoint : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Tensors of these names and shapes, all zero.
  Checkpoint checkpoint(const std::vector<std::pair<std::string, Shape>>& tensors) {
    int64_t most = 0;
    for (const auto& [_, shape] : tensors) most = std::max(most, shape.num_elements());
    const std::vector<uint16_t> zeros(static_cast<size_t>(most));
    std::vector<NamedTensorView> views;
    for (const auto& [name, shape] : tensors) views.push_back({name, TensorView(zeros.data(), DType::kBF16, shape)});
    write_safetensors(folder_ / "model.safetensors", views);
    return Checkpoint::open(folder_ / "model.safetensors");
  }

  // A small network of its own sizes: what the shapes alone tell.
  static std::vector<std::pair<std::string, Shape>> small_network() {
    std::vector<std::pair<std::string, Shape>> tensors = {
        {"aggregator.camera_token", {1, 2, 1, 128}},
        {"aggregator.register_token", {1, 2, 3, 128}},
        {"aggregator.patch_embed.patch_embed.proj.weight", {128, 3, 14, 14}},
        {"aggregator.patch_embed.pos_embed", {1, 26, 128}},
        {"aggregator.frame_blocks.0.mlp.fc1.weight", {256, 128}},
        {"aggregator.frame_blocks.0.attn.q_norm.weight", {32}},
        {"depth_head.scratch.layer1_rn.weight", {16, 4, 3, 3}},
        {"depth_head.scratch.output_conv2.0.weight", {8, 16, 3, 3}},
    };
    for (int i = 0; i < 2; ++i) tensors.push_back({"aggregator.patch_embed.blocks." + std::to_string(i) + ".norm1.weight", {128}});
    for (int i = 0; i < 24; ++i) tensors.push_back({"aggregator.frame_blocks." + std::to_string(i) + ".norm1.weight", {128}});
    for (int i = 0; i < 3; ++i) tensors.push_back({"camera_head.trunk." + std::to_string(i) + ".norm1.weight", {256}});
    for (int i = 0; i < 4; ++i) tensors.push_back({"depth_head.projects." + std::to_string(i) + ".weight", {4 + i, 256, 1, 1}});
    return tensors;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("pointmap_vggt_checkpoint_" + std::to_string(::getpid()));
};

TEST_F(VggtCheckpoint, SizesFollowFromTheTensors) {
  const Checkpoint file = checkpoint(small_network());
  ASSERT_TRUE(is_vggt(file));
  const VggtConfig config = vggt_config_from(file);
  EXPECT_EQ(config.embed_dim, 128);
  EXPECT_EQ(config.num_register_tokens, 3);
  EXPECT_EQ(config.patch_size, 14);
  EXPECT_EQ(config.image_size, 70);  // 5 x 5 positions
  EXPECT_EQ(config.mlp_ratio, 2);
  EXPECT_EQ(config.dino_depth, 2);
  EXPECT_EQ(config.dino_num_heads, 2);
  EXPECT_EQ(config.depth, 24);
  EXPECT_EQ(config.num_heads, 4);
  EXPECT_EQ(config.camera_depth, 3);
  EXPECT_THAT(config.dpt_layer_dims, testing::ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(config.dpt_feature_dim, 16);
  EXPECT_EQ(config.dpt_last_dim, 8);
}

// Learns what a network asks for.
class Recorder : public WeightSource {
 public:
  std::optional<Shape> shape_of(const std::string& name, const Shape& wanted) override {
    tensors.push_back({name, wanted});
    return wanted;
  }
  TensorView load(const std::string&, const Shape&) override { return {}; }
  void release(const std::string&) override {}
  std::vector<std::string> names() const override { return {}; }

  std::vector<std::pair<std::string, Shape>> tensors;
};

TEST_F(VggtCheckpoint, AWholeOneOpensFromItsFileAloneWithoutTheTrackHead) {
  VggtConfig config;
  config.image_size = 42;
  config.embed_dim = 64;
  config.mlp_ratio = 2;
  config.dino_depth = 1;
  config.dino_num_heads = 1;
  config.num_heads = 2;
  config.camera_depth = 1;
  config.dpt_layer_dims = {4, 4, 8, 8};
  config.dpt_feature_dim = 8;
  config.dpt_last_dim = 4;
  Recorder recorder;
  {
    WeightMap map(recorder);
    const Vggt network(WeightScope(map), config);
  }
  recorder.tensors.push_back({"track_head.tracker.query_ref_token", {1, 2, 4}});
  (void)checkpoint(recorder.tensors);
  const std::string file = folder_ / "model.safetensors";
  const ModelInspection found = inspect(file);
  EXPECT_EQ(found.info.family, "vggt");
  EXPECT_EQ(found.info.dtype, "BF16");
  EXPECT_THAT(found.weights.ignored, testing::ElementsAre("track_head.tracker.query_ref_token"));
  EXPECT_EQ(std::get<VggtConfig>(found.config).dino_num_heads, 1);
  EXPECT_EQ(std::get<VggtConfig>(found.config).num_heads, 2);
  EXPECT_NO_THROW((void)OpenedModel::open(file));
  recorder.tensors.push_back({"left.over", {1}});
  (void)checkpoint(recorder.tensors);
  EXPECT_THROW((void)OpenedModel::open(file), Error);
}

TEST_F(VggtCheckpoint, NamesTheTensorThatIsMissingOrOdd) {
  auto tensors = small_network();
  std::erase_if(tensors, [](const auto& t) { return t.first == "aggregator.register_token"; });
  const auto message_of = [&] {
    try {
      (void)vggt_config_from(checkpoint(tensors));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kUnsupported);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message_of(), testing::HasSubstr("aggregator.register_token"));
  tensors.push_back({"aggregator.register_token", {3, 128}});
  EXPECT_THAT(message_of(), testing::HasSubstr("[3, 128], want 4 dimensions"));
  EXPECT_FALSE(is_vggt(checkpoint({{"enc_norm.weight", {4}}})));
}

}  // namespace
}  // namespace pointmap
