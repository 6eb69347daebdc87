// The model in the box, and when it is taken without having been named.
#include "demo_model/demo_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"
#include "io/image/png_encode.h"
#include "recon/default_model.h"
#include "recon/session.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

constexpr const char* kNoDemo = "this build has no model 'demo': models/demo was not there";

class DemoModelTest : public testing::Test {
 protected:
  DemoModelTest() : folder_(fs::temp_directory_path() / ("pointmap-demo-model-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~DemoModelTest() override { fs::remove_all(folder_); }

  // A short name is chosen by what the cache holds; it is not opened.
  void put_dust3r_into_cache() const {
    const std::string commit(40, '1');
    const fs::path repo = folder_ / "models--naver--DUSt3R_ViTLarge_BaseDecoder_512_dpt";
    fs::create_directories(repo / "refs");
    fs::create_directories(repo / "snapshots" / commit);
    std::ofstream(repo / "refs/main") << commit;
    std::ofstream(repo / "snapshots" / commit / "model.safetensors") << "weights";
  }

  fs::path folder_;
};

TEST_F(DemoModelTest, IsTheDefaultUntilDust3rIsCached) {
  HubEnvironment environment;
  environment.cache_folder = folder_;
  const DefaultModel demo = default_model_for(environment);
  EXPECT_EQ(demo.name, "demo");
  EXPECT_THAT(demo.notice, HasSubstr("synthetic scenes only"));
  EXPECT_THAT(demo.notice, HasSubstr("pointmap fetch dust3r"));
  EXPECT_EQ(default_model_for(HubEnvironment{}).name, "demo");  // a machine without HOME has no cache
  put_dust3r_into_cache();
  EXPECT_EQ(default_model_for(environment).name, "dust3r");
}

TEST_F(DemoModelTest, IsWholeOrSaysThatItIsNotInTheBuild) {
  if (!demo_model().in_this_build()) {
    try {
      (void)inspect("demo");
      FAIL() << "found a model that is not there";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kNotFound);
      EXPECT_THAT(error.what(), HasSubstr("not part of this build"));
    }
    GTEST_SKIP() << kNoDemo;
  }
  const ModelInspection demo = inspect("demo");
  EXPECT_EQ(demo.info.name, "demo");
  EXPECT_EQ(demo.info.path, "");
  EXPECT_EQ(demo.info.dtype, "BF16");
  EXPECT_EQ(demo.info.license, "Apache-2.0");
  EXPECT_THAT(demo.info.notes, Contains(HasSubstr("synthetic scenes only")));
  EXPECT_EQ(demo.info.fingerprint.size(), 64u);
  EXPECT_NO_THROW(require_complete(demo.weights, "demo"));
  EXPECT_LE(demo_model().weights.size(), size_t{12'000'000});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(demo_model().weights.data()) % 64, 0u);
}

// A photo whose bytes come with it, so that no file is read at all.
Photo picture_in_memory(int seed) {
  Image image{128, 96, {}};
  for (int i = 0; i < 128 * 96 * 3; ++i) image.rgb.push_back(static_cast<uint8_t>((i * (7 + seed) + i / 384 * 3) % 256));
  return {.name = "made.png", .bytes = encode_png8(image)};
}

// The file that was built in and the bytes in the program are one and the same model.
TEST_F(DemoModelTest, GivesTheBitsOfItsFile) {
  const DemoModel demo = demo_model();
  if (!demo.in_this_build()) GTEST_SKIP() << kNoDemo;
  std::ofstream(folder_ / "model.safetensors", std::ios::binary)
      .write(reinterpret_cast<const char*>(demo.weights.data()), static_cast<std::streamsize>(demo.weights.size()));
  std::ofstream(folder_ / "config.json") << demo.config;
  EXPECT_EQ(inspect("demo").info.fingerprint, inspect(folder_.string()).info.fingerprint);
  const std::vector<Photo> photos = {picture_in_memory(0), picture_in_memory(1)};
  Session from_program("demo", {.num_threads = 2});
  Session from_file(folder_.string(), {.num_threads = 2});
  const Reconstruction a = from_program.reconstruct(photos, {});
  const Reconstruction b = from_file.reconstruct(photos, {});
  EXPECT_EQ(a.scene.views[0].image.width, 192);
  for (size_t v = 0; v < 2; ++v) EXPECT_EQ(a.scene.views[v].points, b.scene.views[v].points);
  EXPECT_THAT(a.report.notes, Contains(HasSubstr("synthetic scenes only")));
  EXPECT_EQ(a.scene.model_hash, inspect("demo").info.fingerprint);
}

}  // namespace
}  // namespace pointmap
