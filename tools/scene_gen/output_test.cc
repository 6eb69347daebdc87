// The bytes that leave the program: the stream's layout, the same for any threads and processor, and scene folders that read back.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "io/image/decode.h"
#include "io/npz/npz_file.h"
#include "scene_folder.h"
#include "stream.h"
#include "tensor/dtype.h"

namespace pointmap::scene_gen {
namespace {

constexpr int kWidth = 40, kHeight = 30;  // neither a multiple of 16 nor of 4, so that tails are tried

std::vector<std::byte> streamed(const Kernel& kernel, uint64_t first, uint64_t count, size_t num_threads) {
  std::vector<std::byte> all;
  stream_pairs(kernel, {{.seed = 5, .width = kWidth, .height = kHeight}, first, count, num_threads}, [&](std::span<const std::byte> bytes) {
    all.insert(all.end(), bytes.begin(), bytes.end());
    return true;
  });
  return all;
}

TEST(SceneGenStream, SameBytesForAnyNumberOfThreads) {
  const std::vector<std::byte> one = streamed(best_kernel(), 0, 24, 1);
  EXPECT_EQ(one.size(), kHeaderBytes + 24 * record_bytes(kWidth, kHeight));
  EXPECT_TRUE(one == streamed(best_kernel(), 0, 24, 3));
}

TEST(SceneGenStream, SameBytesForEveryKernel) {
  const std::vector<std::byte> want = streamed(best_kernel(), 0, 24, 1);
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    const Kernel* kernel = kernel_named(name);
    if (kernel != nullptr) {
      EXPECT_TRUE(streamed(*kernel, 0, 24, 1) == want) << name;
    }
  }
}

TEST(SceneGenStream, APairDoesNotDependOnWhereTheStreamBegins) {
  const std::vector<std::byte> all = streamed(best_kernel(), 0, 4, 1), tail = streamed(best_kernel(), 3, 1, 1);
  const size_t record = record_bytes(kWidth, kHeight);
  EXPECT_EQ(std::memcmp(all.data() + kHeaderBytes + 3 * record, tail.data() + kHeaderBytes, record), 0);
  EXPECT_NE(std::memcmp(all.data() + kHeaderBytes, tail.data() + kHeaderBytes, record), 0);
}

TEST(SceneGenStream, RecordHoldsWhatTheReadmeSays) {
  const std::vector<std::byte> bytes = streamed(best_kernel(), 7, 1, 1);
  constexpr size_t kPixels = size_t{kWidth} * kHeight;
  ASSERT_EQ(bytes.size(), 24 + 10 * kPixels + 104);
  EXPECT_EQ(std::memcmp(bytes.data(), "PMPAIRS1", 8), 0);
  uint32_t size[2];
  uint64_t count = 0;
  std::memcpy(size, bytes.data() + 8, 8);
  std::memcpy(&count, bytes.data() + 16, 8);
  EXPECT_EQ(size[0], 40u);
  EXPECT_EQ(size[1], 30u);
  EXPECT_EQ(count, 1u);

  const PairPlan plan = plan_pair(best_kernel(), {.seed = 5, .width = kWidth, .height = kHeight}, 7);
  for (size_t i = 0; i < 2; ++i) {
    View view;
    Renderer(best_kernel(), kWidth, kHeight).render(plan.scene, plan.cameras[i], plan.exposures[i], view);
    EXPECT_EQ(std::memcmp(bytes.data() + 24 + i * 3 * kPixels, view.rgb.data(), 3 * kPixels), 0);
    std::vector<uint16_t> halves(kPixels);
    std::memcpy(halves.data(), bytes.data() + 24 + 6 * kPixels + i * 2 * kPixels, 2 * kPixels);
    for (size_t p = 0; p < kPixels; ++p) ASSERT_EQ(halves[p], f16_from_float(view.depth[p])) << view.depth[p];
  }
  float numbers[26];
  std::memcpy(numbers, bytes.data() + 24 + 10 * kPixels, sizeof numbers);
  double pose[16];
  cam1_from_cam2(plan.cameras[0], plan.cameras[1], pose);
  const float intrinsics[4] = {plan.cameras[0].focal_px, plan.cameras[0].focal_px, 19.5f, 14.5f};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(numbers[i], intrinsics[i % 4]);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(numbers[8 + i], static_cast<float>(pose[i]));
  EXPECT_EQ(numbers[24], plan.overlap);
  EXPECT_EQ(numbers[25], plan.baseline_over_median_depth);
}

TEST(SceneGenStream, EndsWhenTheSinkRefuses) {
  int num_writes = 0;
  const StreamOptions endless{{.seed = 5, .width = kWidth, .height = kHeight}, 0, 0, 2};
  stream_pairs(best_kernel(), endless, [&](std::span<const std::byte>) { return ++num_writes < 6; });
  EXPECT_EQ(num_writes, 6);
}

TEST(SceneGenStream, RefusesSizesOutOfRange) {
  const auto ignore = [](std::span<const std::byte>) { return true; };
  for (const int width : {0, 15, 4097}) {
    EXPECT_THROW(stream_pairs(best_kernel(), {{.width = width, .height = 30}, 0, 1, 1}, ignore), Error) << width;
  }
  EXPECT_THROW(stream_pairs(best_kernel(), {{}, 0, 1, 0}, ignore), Error);
}

class SceneGenFolders : public testing::Test {
 protected:
  void SetUp() override {
    out_ = std::filesystem::path(testing::TempDir()) / ("scene_gen_" + std::to_string(::getpid()));
    std::filesystem::remove_all(out_);
  }
  void TearDown() override { std::filesystem::remove_all(out_); }

  std::filesystem::path out_;
};

TEST_F(SceneGenFolders, ReadBack) {
  const PairOptions pair{.seed = 2, .width = kWidth, .height = kHeight, .kind = Surroundings::kRoom};
  write_scene_folders(best_kernel(), {pair, 99999, 2, out_, 2});
  const std::filesystem::path folder = out_ / "scene_100000";
  ASSERT_TRUE(std::filesystem::exists(out_ / "scene_99999" / "scene.json"));

  std::ifstream file(folder / "scene.json");
  const nlohmann::json json = nlohmann::json::parse(file);
  EXPECT_EQ(json.at("format"), "pointmap-scene");
  EXPECT_EQ(json.at("version"), 1);
  EXPECT_EQ(json.at("scale"), "metric");
  EXPECT_EQ(json.at("generator").at("seed"), 2);
  EXPECT_EQ(json.at("generator").at("index"), 100000);
  EXPECT_EQ(json.at("generator").at("kind"), "room");

  const PairPlan plan = plan_pair(best_kernel(), pair, 100000);
  const NpzFile truth = NpzFile::read(folder / json.at("truth").get<std::string>());
  for (size_t i = 0; i < 2; ++i) {
    View view;
    Renderer(best_kernel(), kWidth, kHeight).render(plan.scene, plan.cameras[i], plan.exposures[i], view);
    EXPECT_EQ(read_image(folder / json.at("views").at(i).get<std::string>()).image.rgb, view.rgb);
    const std::string suffix = "_" + std::to_string(i + 1);
    EXPECT_TRUE(truth.array("depth" + suffix).shape == (Shape{kHeight, kWidth}));
    const auto depth = truth.array("depth" + suffix).as<float>();
    EXPECT_TRUE(std::equal(depth.begin(), depth.end(), view.depth.begin(), view.depth.end()));
    const auto intrinsics = truth.array("intrinsics" + suffix).as<double>();
    const double focal = static_cast<double>(plan.cameras[i].focal_px), want[9] = {focal, 0, 19.5, 0, focal, 14.5, 0, 0, 1};
    EXPECT_TRUE(std::equal(intrinsics.begin(), intrinsics.end(), want, want + 9));
    const auto pose = truth.array("world_from_cam" + suffix).as<double>();
    // Column 3 is the camera's place, column 2 where it looks.
    EXPECT_EQ(pose[3], static_cast<double>(plan.cameras[i].position.x));
    EXPECT_EQ(pose[6], static_cast<double>(plan.cameras[i].cam_from_world.row2.y));
    EXPECT_EQ(pose[15], 1);
  }
}

TEST_F(SceneGenFolders, WriteAgainOverAnEarlierRun) {
  const PairOptions pair{.seed = 2, .width = kWidth, .height = kHeight, .kind = {}};
  write_scene_folders(best_kernel(), {pair, 3, 1, out_, 1});
  write_scene_folders(best_kernel(), {pair, 3, 1, out_, 1});
  size_t num_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(out_ / "scene_00003")) num_files += entry.is_regular_file();
  EXPECT_EQ(num_files, 4u);
}

TEST_F(SceneGenFolders, AFileInTheWayIsNamed) {
  std::ofstream(out_) << "in the way";
  try {
    write_scene_folders(best_kernel(), {{.seed = 2, .width = kWidth, .height = kHeight, .kind = {}}, 0, 1, out_, 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(out_.string()), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace pointmap::scene_gen
