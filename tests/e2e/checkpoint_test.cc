// Models from files: the same network as from the formula, in every form a checkpoint comes in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <fstream>

#include "pointmap/models.h"
#include "pointmap/pointmap.h"
#include "program.h"
#include "recon/dust3r_config.h"
#include "tiny_checkpoint.h"

namespace pointmap {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class CheckpointModel : public testing::Test {
 protected:
  CheckpointModel() {
    write_test_photo(folder_.path() / "left.png", 64, 48, 0);
    write_test_photo(folder_.path() / "right.png", 48, 64, 1);
    std::ofstream(folder_ / "config.json") << kTinyConfig;
  }
  void write(const std::string& name, DType dtype = DType::kF32) { write_checkpoint(folder_ / name, tensors_, dtype); }
  Reconstruction reconstruct(const std::string& model) {
    Reconstructor reconstructor = Reconstructor::open(model);
    return reconstructor.reconstruct({{.name = folder_ / "left.png", .bytes = {}}, {.name = folder_ / "right.png", .bytes = {}}},
                                     {.preset = "dust3r224"});
  }

  TemporaryFolder folder_;
  std::vector<NamedTensor> tensors_ = tiny_tensors();
};

void expect_same_scene(const Scene& a, const Scene& b) {
  for (size_t v = 0; v < 2; ++v) {
    EXPECT_EQ(a.views[v].points, b.views[v].points);
    EXPECT_EQ(a.views[v].confidence, b.views[v].confidence);
  }
}

TEST_F(CheckpointModel, AFileGivesTheSameBitsAsTheFormula) {
  write("model.safetensors");
  const Reconstruction from_folder = reconstruct(folder_.path().string());
  expect_same_scene(from_folder.scene, reconstruct("synthetic:dust3r-tiny").scene);
  expect_same_scene(from_folder.scene, reconstruct(folder_ / "model.safetensors").scene);
  EXPECT_EQ(from_folder.scene.model_hash.size(), 64u);
}

TEST_F(CheckpointModel, Bf16WeightsGiveTheBitsOfTheirWidenedValues) {
  for (NamedTensor& tensor : tensors_) {
    for (float& value : tensor.values) {
      value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0xFFFF0000u);
      tensor.bf16.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
    }
  }
  write("wide.safetensors");
  const Reconstruction wide = reconstruct(folder_ / "wide.safetensors");
  write("narrow.safetensors", DType::kBF16);
  const Reconstruction narrow = reconstruct(folder_ / "narrow.safetensors");
  EXPECT_LT(std::filesystem::file_size(folder_ / "narrow.safetensors") * 19, std::filesystem::file_size(folder_ / "wide.safetensors") * 10);
  expect_same_scene(wide.scene, narrow.scene);
}

TEST_F(CheckpointModel, ListsWhatIsMissingAndWhatIsExtra) {
  std::erase_if(tensors_, [](const NamedTensor& t) { return t.name == "enc_norm.bias"; });
  tensors_.push_back({.name = "left.over", .shape = {1}, .values = {0.0f}, .bf16 = {}});
  write("model.safetensors");
  try {
    reconstruct(folder_.path().string());
    FAIL() << "loaded a model that is not whole";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kCorruptData);
    EXPECT_THAT(error.what(), HasSubstr("enc_norm.bias [128]"));
    EXPECT_THAT(error.what(), HasSubstr("left.over"));
  }
  const ModelReport report = inspect_model(folder_.path().string());
  EXPECT_FALSE(report.usable());
  EXPECT_THAT(report.missing, SizeIs(1));
  EXPECT_THAT(report.unexpected, SizeIs(1));
  EXPECT_THAT(report.ignored, SizeIs(9));  // mask_token and refinenet4.resConfUnit1 of both heads
}

TEST_F(CheckpointModel, SizesFollowFromTheTensorsWithoutAConfiguration) {
  write("model.safetensors");
  const Dust3rConfig config = dust3r_config_from(Checkpoint::open(folder_ / "model.safetensors"));
  EXPECT_EQ(config.patch_size, 16);
  EXPECT_EQ(config.enc_embed_dim, 128);
  EXPECT_EQ(config.enc_depth, 3);
  EXPECT_EQ(config.enc_num_heads, 2);  // of size 64, as published models have; this one has 4 of 32, which only a config.json can tell
  EXPECT_EQ(config.dec_embed_dim, 64);
  EXPECT_EQ(config.dec_depth, 12);
  EXPECT_EQ(config.head, Dust3rConfig::Head::kDpt);
  tensors_ = {{.name = "something.weight", .shape = {1}, .values = {0.0f}, .bf16 = {}}};
  write("other.safetensors");
  EXPECT_THROW((void)dust3r_config_from(Checkpoint::open(folder_ / "other.safetensors")), Error);
}

TEST_F(CheckpointModel, RefusesAConfigurationThatIsNotOurs) {
  write("model.safetensors");
  const std::string config = kTinyConfig;
  struct Row {
    const char* from;
    const char* to;
    const char* message;
  };
  for (const Row& row : {Row{"RoPE100", "cosine", "pos_embed"}, Row{"\"dpt\"", "\"catmlp+dpt\"", "head_type"},
                         Row{"\"exp\", 1", "\"sigmoid\", 1", "conf_mode"}, Row{"pts3d", "pts3d+desc24", "output_mode"},
                         Row{"\"enc_depth\": 3", "\"enc_depth\": 1e9", "enc_depth"}}) {
    std::string changed = config;
    changed.replace(changed.find(row.from), std::string(row.from).size(), row.to);
    std::ofstream(folder_ / "config.json") << changed;
    try {
      reconstruct(folder_.path().string());
      ADD_FAILURE() << "accepted " << row.to;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(row.message));
    }
  }
}

}  // namespace
}  // namespace pointmap
