#include "io/image/png_unpack.h"

#include <gtest/gtest.h>

#include <random>

#include "io/image/decode.h"
#include "io/image/fixtures_testing.h"
#include "io/image/png_encode.h"

namespace pointmap::codec {
namespace {

using fixtures::Bytes;
using fixtures::operator+;

constexpr int kWidth = 300, kHeight = 200;
constexpr PngRows kRows = {.height = kHeight, .row_bytes = 3 * kWidth, .pixel_bytes = 3};  // more than two stored blocks

Image noise() {
  std::mt19937 random(5);
  Image image{kWidth, kHeight, std::vector<uint8_t>(3 * kWidth * kHeight)};
  for (uint8_t& sample : image.rgb) sample = static_cast<uint8_t>(random() >> 24);
  return image;
}

struct TornPng {
  Bytes before, packed, after;  // around the image data, and these without their chunks

  Bytes with_chunks(const std::vector<Bytes>& chunks) const {
    Bytes png = before;
    for (const Bytes& chunk : chunks) png = png + chunk;
    return png + after;
  }
};

// Of a file whose only ancillary chunk, if any, is before the image data.
TornPng torn(const Bytes& png) {
  TornPng parts;
  bool seen_image = false;
  parts.before.assign(png.begin(), png.begin() + 8);
  for (size_t at = 8; at < png.size();) {
    size_t bytes = 0;
    for (size_t i = 0; i < 4; ++i) bytes = bytes << 8 | std::to_integer<size_t>(png[at + i]);
    const auto begin = png.begin() + static_cast<ptrdiff_t>(at), end = begin + static_cast<ptrdiff_t>(bytes + 12);
    const bool is_image = Bytes(begin + 4, begin + 8) == fixtures::bytes_of("IDAT");
    if (is_image) {
      parts.packed.insert(parts.packed.end(), begin + 8, end - 4);
    } else {
      Bytes& part = seen_image ? parts.after : parts.before;
      part.insert(part.end(), begin, end);
    }
    seen_image = seen_image || is_image;
    at += bytes + 12;
  }
  return parts;
}

TEST(UnpackPng, KeepsThePicture) {
  const Image image = noise();
  const TornPng parts = torn(encode_png8(image));
  const auto cut = parts.packed.begin() + 1000;
  // In one chunk, in several, and with text around them.
  const Bytes text = fixtures::png_chunk("tEXt", fixtures::bytes_of("a\0b"));
  const Bytes first = fixtures::png_chunk("IDAT", Bytes(parts.packed.begin(), cut)),
              second = fixtures::png_chunk("IDAT", Bytes(cut, parts.packed.end()));
  for (const Bytes& png : {parts.with_chunks({first + second}), parts.with_chunks({text, first, second, text})}) {
    std::optional<Bytes> unpacked = unpack_png(png, kRows);
    ASSERT_TRUE(unpacked);
    EXPECT_GT(unpacked->size(), kHeight * (1 + 3 * kWidth));
    fixtures::repair_png_checksums(*unpacked);
    EXPECT_EQ(decode_image(*unpacked, "unpacked.png").image.rgb, image.rgb);
    EXPECT_EQ(decode_image(png, "packed.png").image.rgb, image.rgb);
  }
}

TEST(UnpackPng, LeavesAloneWhatIsNotAsExpected) {
  const TornPng parts = torn(encode_png8(noise()));
  const Bytes image = fixtures::png_chunk("IDAT", parts.packed);
  const Bytes good = parts.with_chunks({image});
  ASSERT_TRUE(unpack_png(good, kRows));
  EXPECT_FALSE(unpack_png(good, {kHeight, 3 * kWidth + 1, 3}));
  EXPECT_FALSE(unpack_png(good, {kHeight - 1, 3 * kWidth, 3}));
  EXPECT_FALSE(unpack_png(good, {uint64_t{1} << 31, uint64_t{1} << 33, 3})) << "would need too much memory";
  EXPECT_FALSE(unpack_png({}, kRows));

  Bytes broken = image;
  broken.back() ^= std::byte{1};
  EXPECT_FALSE(unpack_png(parts.with_chunks({broken}), kRows)) << "checksum of the chunk";
  Bytes wrong_sum = parts.packed;
  wrong_sum.back() ^= std::byte{1};
  EXPECT_FALSE(unpack_png(parts.with_chunks({fixtures::png_chunk("IDAT", wrong_sum)}), kRows)) << "checksum of the stream";
  EXPECT_FALSE(unpack_png(parts.with_chunks({fixtures::png_chunk("IDAT", parts.packed + Bytes(4))}), kRows)) << "more behind it";
  const Bytes text = fixtures::png_chunk("tEXt", fixtures::bytes_of("a"));
  EXPECT_FALSE(unpack_png(parts.with_chunks({image, text, fixtures::png_chunk("IDAT", {})}), kRows)) << "not one after the other";
  EXPECT_FALSE(unpack_png(parts.with_chunks({}), kRows)) << "no image data";
  for (size_t bytes = 0; bytes + 12 < good.size(); bytes += 97) {
    EXPECT_FALSE(unpack_png(std::span(good).first(bytes), kRows)) << "cut at " << bytes;
  }
}

}  // namespace
}  // namespace pointmap::codec
