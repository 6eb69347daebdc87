// Both kinds of model against bytes and lines worked out by hand from COLMAP's description of its formats.
#include "io/colmap/colmap_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "base/error.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Two cameras, three images of which the second sees nothing, three points.
struct SmallModel {
  std::vector<ColmapCamera> cameras = {{64, 48, 50, 51, 32, 24.5}, {4000000000, 3, 0.1, 1, 2, 3}};
  std::vector<ColmapImage> images = {
      {.id = 1, .camera = 1, .rotation = {0.5, 0.5, -0.5, 0.5}, .translation = {1, 2, 3}, .name = "a b\n.jpg", .num_points = 2},
      {.id = 3, .camera = 0, .name = "sub/\xFF\xC3\xBC.png", .num_points = 0},
      {.id = 4, .camera = 0, .name = "c", .num_points = 1}};
  std::vector<float> positions = {0, 1, 0.1f, -1, 1e20f, 3, 4, 5, 6};
  std::vector<uint8_t> colors = {1, 2, 3, 0, 255, 0, 9, 8, 7};
  std::vector<double> pixels = {0.5, 1.5, 2.25, 47.5, 1e-7, 7};
  std::vector<double> errors = {0.25, -1, 0};

  ColmapModel model() const { return {cameras, images, positions, colors, pixels, errors}; }
};

class ColmapWriter : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string content(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  const fs::path folder_ = fs::path(testing::TempDir()) / ("pointmap_colmap_" + std::to_string(::getpid()));
};

// Little-endian bytes of numbers, one after the other.
template <typename... Numbers>
std::string bytes_of(Numbers... numbers) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&numbers), sizeof(numbers)), ...);
  return bytes;
}

TEST_F(ColmapWriter, WritesTheBytesOfTheFormat) {
  write_colmap_binary(folder_, SmallModel().model());
  const auto u64 = [](uint64_t x) { return x; };
  EXPECT_EQ(content("cameras.bin"), bytes_of(u64(2), 1u, 1, u64(64), u64(48), 50.0, 51.0, 32.0, 24.5) +
                                        bytes_of(2u, 1, u64(4000000000), u64(3), 0.1, 1.0, 2.0, 3.0));
  EXPECT_EQ(content("images.bin"), bytes_of(u64(3), 1u, 0.5, 0.5, -0.5, 0.5, 1.0, 2.0, 3.0, 2u) + "a b\n.jpg" + '\0' +
                                       bytes_of(u64(2), 0.5, 1.5, u64(1), 2.25, 47.5, u64(2)) +
                                       bytes_of(3u, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1u) + "sub/\xFF\xC3\xBC.png" + '\0' +
                                       bytes_of(u64(0)) + bytes_of(4u, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1u) + "c" + '\0' +
                                       bytes_of(u64(1), 1e-7, 7.0, u64(3)));
  const auto color = [](int r, int g, int b) { return std::string{static_cast<char>(r), static_cast<char>(g), static_cast<char>(b)}; };
  EXPECT_EQ(content("points3D.bin"), bytes_of(u64(3), u64(1), 0.0, 1.0, double{0.1f}) + color(1, 2, 3) + bytes_of(0.25, u64(1), 1u, 0u) +
                                         bytes_of(u64(2), -1.0, double{1e20f}, 3.0) + color(0, 255, 0) + bytes_of(-1.0, u64(1), 1u, 1u) +
                                         bytes_of(u64(3), 4.0, 5.0, 6.0) + color(9, 8, 7) + bytes_of(0.0, u64(1), 4u, 0u));
}

std::string without_comments(const std::string& text) {
  std::string rest;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin) + 1;
    if (text[begin] != '#') rest += text.substr(begin, end - begin);
    begin = end;
  }
  return rest;
}

TEST_F(ColmapWriter, WritesTheLinesOfTheFormat) {
  const std::vector<std::string> comments = {"made by a test", "convention"};
  write_colmap_text(folder_, SmallModel().model(), comments);
  EXPECT_EQ(without_comments(content("cameras.txt")), "1 PINHOLE 64 48 50 51 32 24.5\n2 PINHOLE 4000000000 3 0.1 1 2 3\n");
  EXPECT_EQ(without_comments(content("images.txt")),
            "1 0.5 0.5 -0.5 0.5 1 2 3 2 a_b_.jpg\n0.5 1.5 1 2.25 47.5 2\n"
            "3 1 0 0 0 0 0 0 1 sub/\xFF\xC3\xBC.png\n\n"
            "4 1 0 0 0 0 0 0 1 c\n1e-07 7 3\n");
  EXPECT_EQ(without_comments(content("points3D.txt")),
            "1 0 1 0.10000000149011612 1 2 3 0.25 1 0\n2 -1 100000002004087734272 3 0 255 0 -1 1 1\n3 4 5 6 9 8 7 0 4 0\n");
  for (const char* name : {"cameras.txt", "images.txt", "points3D.txt"}) {
    EXPECT_THAT(content(name), testing::StartsWith("# made by a test\n# convention\n")) << name;
  }
  EXPECT_THAT(content("images.txt"), HasSubstr("# Number of images: 3\n"));
  EXPECT_THAT(content("points3D.txt"), HasSubstr("# Number of points: 3\n"));
}

TEST_F(ColmapWriter, LosesNothingBetweenBlocks) {
  SmallModel small;
  const size_t count = 100'000;  // several blocks of a megabyte, in one line of images.txt
  small.images = {{.id = 1, .camera = 0, .name = "many", .num_points = count}};
  small.positions.assign(3 * count, 1.5f);
  small.colors.assign(3 * count, 7);
  small.errors.assign(count, 0.125);
  small.pixels.clear();
  for (size_t i = 0; i < count; ++i) {
    small.pixels.push_back(static_cast<double>(i));
    small.pixels.push_back(0.5);
  }
  write_colmap_binary(folder_, small.model());
  write_colmap_text(folder_, small.model());
  std::string want_line, want_points, want_bytes = bytes_of(uint64_t{count});
  for (size_t i = 0; i < count; ++i) {
    want_line.append(i == 0 ? "" : " ").append(std::to_string(i)).append(" 0.5 ").append(std::to_string(i + 1));
    want_points += std::to_string(i + 1) + " 1.5 1.5 1.5 7 7 7 0.125 1 " + std::to_string(i) + "\n";
    want_bytes += bytes_of(uint64_t{i + 1}, 1.5, 1.5, 1.5) + "\7\7\7" + bytes_of(0.125, uint64_t{1}, 1u, static_cast<uint32_t>(i));
  }
  EXPECT_EQ(without_comments(content("images.txt")), "1 1 0 0 0 0 0 0 1 many\n" + want_line + "\n");
  EXPECT_TRUE(without_comments(content("points3D.txt")) == want_points);
  EXPECT_TRUE(content("points3D.bin") == want_bytes);
}

TEST_F(ColmapWriter, RefusesWhatDoesNotFitTogether) {
  const auto refuses = [&](auto spoil) {
    SmallModel small;
    spoil(small);
    EXPECT_THROW(write_colmap_binary(folder_, small.model()), Error);
    EXPECT_THROW(write_colmap_text(folder_, small.model()), Error);
  };
  refuses([](SmallModel& m) { m.positions.pop_back(); });
  refuses([](SmallModel& m) { m.colors.pop_back(); });
  refuses([](SmallModel& m) { m.pixels.pop_back(); });
  refuses([](SmallModel& m) { m.images[1].num_points = 1; });
  refuses([](SmallModel& m) { m.images[0].camera = 2; });
  refuses([](SmallModel& m) { m.images[0].name = ""; });
  refuses([](SmallModel& m) { m.images[0].name = std::string("a\0b", 3); });
  const std::vector<std::string> comments = {"two\nlines"};
  EXPECT_THROW(write_colmap_text(folder_, SmallModel().model(), comments), Error);
  EXPECT_TRUE(fs::is_empty(folder_));
  try {
    write_colmap_binary(folder_ / "missing", SmallModel().model());
    ADD_FAILURE() << "wrote into a folder that is not there";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("missing/cameras.bin"));
  }
}

}  // namespace
}  // namespace pointmap
