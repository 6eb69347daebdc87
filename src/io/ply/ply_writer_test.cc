// The writer against a generic PLY reader written here: it follows the header and knows nothing of our layout.
#include "io/ply/ply_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

#include "base/error.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

struct ParsedPly {
  std::vector<std::string> comments;
  size_t num_vertices = 0;
  std::vector<std::string> names;                        // of the properties, in order
  std::map<std::string, std::string> type_of;            // by property
  std::map<std::string, std::vector<double>> values_of;  // by property
};

double take_value(std::istream& in, const std::string& type) {
  const auto take = [&in](auto value) {
    in.read(reinterpret_cast<char*>(&value), sizeof(value));
    return static_cast<double>(value);
  };
  if (type == "float") return take(float{});
  if (type == "double") return take(double{});
  if (type == "uchar") return take(uint8_t{});
  if (type == "int") return take(int32_t{});
  ADD_FAILURE() << "unknown PLY type " << type;
  return 0;
}

ParsedPly parse_ply(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  ParsedPly ply;
  std::vector<std::pair<std::string, std::string>> properties;  // type, name
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "ply");
  std::getline(in, line);
  EXPECT_EQ(line, "format binary_little_endian 1.0");
  while (std::getline(in, line) && line != "end_header") {
    std::istringstream words(line);
    std::string keyword, first, second;
    words >> keyword;
    if (keyword == "comment") {
      ply.comments.push_back(line.substr(8));
      continue;
    }
    words >> first >> second;
    if (keyword == "element") {
      EXPECT_EQ(first, "vertex");
      ply.num_vertices = std::stoul(second);
    } else {
      EXPECT_EQ(keyword, "property");
      properties.emplace_back(first, second);
      ply.names.push_back(second);
    }
  }
  for (size_t i = 0; i < ply.num_vertices; ++i) {
    for (const auto& [type, name] : properties) {
      ply.type_of[name] = type;
      ply.values_of[name].push_back(take_value(in, type));
    }
  }
  EXPECT_TRUE(in.good() || ply.num_vertices == 0) << "file is shorter than its header says";
  EXPECT_EQ(in.peek(), std::char_traits<char>::eof()) << "bytes after the last vertex";
  return ply;
}

class PlyWriter : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  const fs::path folder_ = fs::path(testing::TempDir()) / ("pointmap_ply_" + std::to_string(::getpid()));
};

TEST_F(PlyWriter, WritesEveryPropertyOfEveryPoint) {
  const std::vector<float> positions = {1.5f, -2, 3, 0.1f, 0, -1e20f};
  const std::vector<uint8_t> colors = {0, 127, 255, 10, 11, 12};
  const std::vector<float> confidence = {1.25f, 40};
  const std::vector<std::string> comments = {"made by a test", "x right, y down"};
  write_ply(folder_ / "two.ply", {positions, colors, confidence}, comments);
  const ParsedPly ply = parse_ply(folder_ / "two.ply");
  EXPECT_EQ(ply.comments, comments);
  ASSERT_EQ(ply.num_vertices, 2u);
  EXPECT_THAT(ply.values_of.at("x"), ElementsAre(1.5, 0.1f));
  EXPECT_THAT(ply.values_of.at("y"), ElementsAre(-2, 0));
  EXPECT_THAT(ply.values_of.at("z"), ElementsAre(3, -1e20f));
  EXPECT_THAT(ply.values_of.at("red"), ElementsAre(0, 10));
  EXPECT_THAT(ply.values_of.at("green"), ElementsAre(127, 11));
  EXPECT_THAT(ply.values_of.at("blue"), ElementsAre(255, 12));
  EXPECT_THAT(ply.values_of.at("confidence"), ElementsAre(1.25, 40));
  EXPECT_EQ(ply.type_of.at("x"), "float");
  EXPECT_EQ(ply.type_of.at("red"), "uchar");
  EXPECT_EQ(ply.type_of.at("confidence"), "float");
  EXPECT_THAT(ply.names, ElementsAre("x", "y", "z", "red", "green", "blue", "confidence"));
}

TEST_F(PlyWriter, WritesNormalsBetweenPlaceAndColour) {
  const std::vector<float> positions = {1, 2, 3, 4, 5, 6}, normals = {0, 0.6f, -0.8f, 0, 0, 0}, confidence = {7, 8};
  const std::vector<uint8_t> colors = {9, 10, 11, 12, 13, 14};
  write_ply(folder_ / "normals.ply", {positions, colors, confidence, normals});
  const ParsedPly ply = parse_ply(folder_ / "normals.ply");
  EXPECT_THAT(ply.names, ElementsAre("x", "y", "z", "nx", "ny", "nz", "red", "green", "blue", "confidence"));
  EXPECT_THAT(ply.values_of.at("nx"), ElementsAre(0, 0));
  EXPECT_THAT(ply.values_of.at("ny"), ElementsAre(0.6f, 0));
  EXPECT_THAT(ply.values_of.at("nz"), ElementsAre(-0.8f, 0));
  EXPECT_THAT(ply.values_of.at("z"), ElementsAre(3, 6));
  EXPECT_THAT(ply.values_of.at("blue"), ElementsAre(11, 14));
  EXPECT_THAT(ply.values_of.at("confidence"), ElementsAre(7, 8));
  EXPECT_EQ(ply.type_of.at("nx"), "float");
}

TEST_F(PlyWriter, KeepsOrderAcrossBlocks) {
  const size_t count = 3 * 16384 + 7;  // not a whole number of the writer's blocks
  std::vector<float> positions(3 * count), confidence(count);
  std::vector<uint8_t> colors(3 * count);
  for (size_t i = 0; i < count; ++i) {
    positions[3 * i] = static_cast<float>(i);
    confidence[i] = static_cast<float>(2 * i);
    colors[3 * i + 1] = static_cast<uint8_t>(i % 251);
  }
  write_ply(folder_ / "many.ply", {positions, colors, confidence});
  const ParsedPly ply = parse_ply(folder_ / "many.ply");
  ASSERT_EQ(ply.num_vertices, count);
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(ply.values_of.at("x")[i], static_cast<double>(i));
    ASSERT_EQ(ply.values_of.at("confidence")[i], static_cast<double>(2 * i));
    ASSERT_EQ(ply.values_of.at("green")[i], static_cast<double>(i % 251));
  }
}

TEST_F(PlyWriter, WritesACloudWithoutPoints) {
  write_ply(folder_ / "none.ply", {});
  EXPECT_EQ(parse_ply(folder_ / "none.ply").num_vertices, 0u);
}

TEST_F(PlyWriter, RefusesSpansThatDisagree) {
  const std::vector<float> three(3);
  const std::vector<uint8_t> colors(3);
  EXPECT_THROW(write_ply(folder_ / "bad.ply", {three, colors, three}), Error);
  EXPECT_THROW(write_ply(folder_ / "bad.ply", {three, {}, std::span(three).first(1)}), Error);
  EXPECT_THROW(write_ply(folder_ / "bad.ply", {three, colors, std::span(three).first(1), std::span(three).first(1)}), Error);
  const std::vector<std::string> comments = {"two\nlines"};
  EXPECT_THROW(write_ply(folder_ / "bad.ply", {}, comments), Error);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace pointmap
