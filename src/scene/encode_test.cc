// Files in memory, read back by our readers, and compared with what the writers put into files.
#include "pointmap/encode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "io/image/decode.h"
#include "io/npz/npz_file.h"
#include "tensor/dtype.h"

namespace pointmap {
namespace {

using testing::ElementsAre;

NpzFile read_back(const std::string& archive) {
  return NpzFile::from_bytes(std::as_bytes(std::span(archive)), "memory");
}

TEST(EncodeNpz, StacksPartsAndRoundsToHalves) {
  const std::vector<float> first = {1, 2, 3}, second = {4, 5, 6};
  const std::vector<float> fine = {1.0f + 0x1p-11f, 65520.0f, -0.0f, std::numeric_limits<float>::quiet_NaN()};
  for (const int level : {0, 1, 6}) {
    const NpzFile file = read_back(
        encode_npz({{.name = "grid", .shape = {2, 3}, .parts = {first, second}}, {"fine", {4}, {fine}, NpzType::kFloat16}}, level));
    EXPECT_THAT(file.names(), ElementsAre("fine", "grid"));
    EXPECT_EQ(file.array("grid").shape, (Shape{2, 3}));
    EXPECT_THAT(file.array("grid").as<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
    const NpzArray& halves = file.array("fine");
    ASSERT_EQ(halves.dtype, DType::kF16);
    const auto* bits = reinterpret_cast<const uint16_t*>(halves.bytes.data());
    EXPECT_EQ(bits[0], 0x3C00);  // a tie goes to even
    EXPECT_EQ(bits[1], 0x7C00);  // beyond the largest half: infinity
    EXPECT_EQ(bits[2], 0x8000);
    EXPECT_TRUE(std::isnan(float_from_f16(bits[3])));
  }
}

TEST(EncodeNpz, IsTheSameInPieces) {
  const std::vector<float> first = {1, 2, 3}, second = {4, 5, 6};
  const std::vector<NpzItem> items = {{"grid", {2, 3}, {first, second}},
                                      {"line", {3}, {second}},
                                      {"halves", {6}, {first, second}, NpzType::kFloat16},
                                      {"nothing", {0}, {}}};
  NpzPieces pieces = encode_npz_in_pieces(items);
  const NpzPieces moved = std::move(pieces);
  std::string joined;
  bool refers_to_the_line = false;
  for (const std::string_view piece : moved.in_order) {
    joined += piece;
    refers_to_the_line = refers_to_the_line || piece.data() == reinterpret_cast<const char*>(second.data());
  }
  EXPECT_EQ(joined, encode_npz(items));
  EXPECT_TRUE(refers_to_the_line) << "copied";
}

TEST(EncodeNpz, RefusesWhatDoesNotFillItsShape) {
  const std::vector<float> three = {1, 2, 3};
  EXPECT_THROW(encode_npz({{"a", {4}, {three}, NpzType::kFloat32}}), Error);
  EXPECT_THROW(encode_npz({{"a", {2}, {three}, NpzType::kFloat16}}), Error);
  EXPECT_THROW(encode_npz({{"a", {3}, {three}, NpzType::kFloat32}, {"a", {3}, {three}, NpzType::kFloat32}}), Error);
  EXPECT_THROW(encode_npz({}, 13), Error);
}

TEST(EncodePng, IsReadBackExactly) {
  Image image{.width = 3, .height = 2, .rgb = {}};
  for (uint8_t i = 0; i < 18; ++i) image.rgb.push_back(static_cast<uint8_t>(14 * i));
  const std::string png = encode_png(image);
  EXPECT_EQ(decode_image(std::as_bytes(std::span(png)), "png").image.rgb, image.rgb);
}

TEST(EncodePng, KeepsSixteenBits) {
  const std::vector<uint16_t> grey = {0, 0x1234, 0xFFFF, 0x00FF};
  const std::string png = encode_png_grey16(grey, 2, 2);
  const size_t header = png.find("IHDR");
  ASSERT_NE(header, std::string::npos);
  EXPECT_EQ(png[header + 12], 16);  // bits per sample
  EXPECT_EQ(png[header + 13], 0);   // grey
  EXPECT_THROW(encode_png_grey16(grey, 3, 2), Error);
}

}  // namespace
}  // namespace pointmap
