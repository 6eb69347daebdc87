// Pillow's own results, bit for bit (tests/golden/pillow_resize.npz, Pillow 9.4), and the cases it leaves out.
#include "io/image/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "base/error.h"
#include "io/npz/npz_file.h"

namespace pointmap {
namespace {

TEST(Resize, MatchesPillowBitForBit) {
  const NpzFile golden = NpzFile::read(std::filesystem::path(POINTMAP_SOURCE_DIR) / "tests/golden/pillow_resize.npz");
  const nlohmann::json cases = nlohmann::json::parse(golden.array("meta").text());
  ASSERT_EQ(cases.size(), 11U);
  for (const nlohmann::json& row : cases) {
    SCOPED_TRACE(row.dump());
    const std::string number = std::to_string(row.at("case").get<int>());
    const std::span<const uint8_t> in = golden.array("in_" + number).as<uint8_t>();
    const std::span<const uint8_t> want = golden.array("out_" + number).as<uint8_t>();
    const Image source{row.at("from_wh").at(0), row.at("from_wh").at(1), {in.begin(), in.end()}};
    const Image got = resize_image(source, row.at("to_wh").at(0), row.at("to_wh").at(1),
                                   row.at("filter") == "lanczos" ? ResizeFilter::kLanczos : ResizeFilter::kBicubic);
    EXPECT_TRUE(std::equal(got.rgb.begin(), got.rgb.end(), want.begin(), want.end()));
  }
}

// More than 100 times taller than wide and shrinking: vertical pass first. Expectation from Pillow 13 for the picture below.
TEST(Resize, VeryTallPicturesShrinkVerticallyFirst) {
  Image tall{3, 400, {}};
  for (int i = 0; i < 3 * 400 * 3; ++i) tall.rgb.push_back(static_cast<uint8_t>(i * i * 7 % 251));
  const Image got = resize_image(tall, 5, 4, ResizeFilter::kLanczos);
  const std::vector<uint8_t> want = {116, 117, 120, 120, 118, 117, 123, 120, 114, 119, 119, 116, 115, 118, 119, 121, 119, 117, 118, 118,
                                     117, 115, 116, 118, 117, 118, 119, 120, 119, 120, 114, 116, 118, 117, 118, 119, 120, 120, 120, 120,
                                     119, 118, 119, 118, 117, 124, 121, 117, 121, 120, 117, 117, 116, 116, 117, 114, 116, 118, 114, 116};
  EXPECT_EQ(got.rgb, want);
}

TEST(Resize, SameSizeIsACopy) {
  Image image{2, 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  EXPECT_EQ(resize_image(image, 2, 2, ResizeFilter::kLanczos).rgb, image.rgb);
}

TEST(Resize, RefusesEmptySizes) {
  const Image image{1, 1, {1, 2, 3}};
  for (const auto& [width, height] : {std::pair{0, 1}, std::pair{1, 0}, std::pair{-1, 1}}) {
    EXPECT_THROW(resize_image(image, width, height, ResizeFilter::kBicubic), Error);
  }
  EXPECT_THROW(resize_image(Image{}, 1, 1, ResizeFilter::kBicubic), Error);
}

}  // namespace
}  // namespace pointmap
