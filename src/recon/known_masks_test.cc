// Masks in every way that they and their photos can be turned.
#include "recon/known_masks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/image/fixtures_testing.h"
#include "io/image/png_encode.h"

namespace pointmap {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

constexpr int kWidth = 6, kHeight = 4;  // of the photo as a person sees it; the network's picture is half that

// A photo of that size, stored otherwise.
ViewTransform photo_with(int exif_orientation) {
  const bool is_swapped = exif_orientation >= 5;
  return {.exif_orientation = exif_orientation,
          .stored_width = is_swapped ? kHeight : kWidth,
          .stored_height = is_swapped ? kWidth : kHeight,
          .scale_x = 2,
          .scale_y = 2,
          .network_width = kWidth / 2,
          .network_height = kHeight / 2};
}

Image black(int width, int height) {
  return {.width = width, .height = height, .rgb = std::vector<uint8_t>(static_cast<size_t>(width * height) * 3, 0)};
}

Photo file_of(const Image& image) {
  return {.name = "mask.png", .bytes = encode_png8(image)};
}

// White, or nearly black but not quite, where the network's pixels (0, 0) and (2, 1) look: the middles of 2x2 blocks round up.
constexpr std::array<std::pair<int, int>, 2> kWhite = {{{1, 1}, {5, 3}}};
const std::vector<uint8_t> kWanted = {1, 0, 0, 0, 0, 1};

Image oriented_mask() {
  Image image = black(kWidth, kHeight);
  for (const auto& [x, y] : kWhite) image.rgb[static_cast<size_t>(y * kWidth + x) * 3 + 2] = 1;
  return image;
}

// Pixel by pixel what EXIF says: 6, the stored picture turned clockwise is upright; 8 the other way; 3 a half turn.
Image stored_mask(int exif_orientation) {
  const Image upright = oriented_mask();
  Image image = exif_orientation == 3 ? black(kWidth, kHeight) : black(kHeight, kWidth);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const int u = exif_orientation == 6 ? y : exif_orientation == 8 ? kHeight - 1 - y : kWidth - 1 - x;
      const int v = exif_orientation == 6 ? kWidth - 1 - x : exif_orientation == 8 ? x : kHeight - 1 - y;
      for (size_t c = 0; c < 3; ++c) image.rgb[static_cast<size_t>(v * image.width + u) * 3 + c] = upright.pixel(x, y)[c];
    }
  }
  return image;
}

TEST(KnownMasks, TurnedAsThePhotoIsSeenFitEveryPhoto) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    const NetworkMask mask = read_mask(file_of(oriented_mask()), "photo", photo_with(orientation), {});
    EXPECT_THAT(mask.values, ElementsAreArray(kWanted));
    EXPECT_EQ(mask.note.empty(), orientation == 1 || orientation >= 5) << "where both sizes are one, it was a guess";
  }
}

TEST(KnownMasks, OfStoredPixelsAreTurnedWithThePhoto) {
  for (const int orientation : {6, 8}) {
    const NetworkMask mask = read_mask(file_of(stored_mask(orientation)), "photo", photo_with(orientation), {});
    EXPECT_THAT(mask.values, ElementsAreArray(kWanted)) << orientation;
    EXPECT_EQ(mask.note, "");
  }
}

// A mask with EXIF of its own is turned by that.
TEST(KnownMasks, WithExifOfTheirOwnAreTurnedByIt) {
  const Image stored = stored_mask(3);
  fixtures::PngSpec spec = fixtures::png_spec_of(stored);
  spec.before_image = fixtures::png_chunk("eXIf", fixtures::exif_block(3, true));
  const Photo file{.name = "mask.png", .bytes = fixtures::make_png(spec)};
  const NetworkMask mask = read_mask(file, "photo", photo_with(3), {});
  EXPECT_THAT(mask.values, ElementsAreArray(kWanted));
  EXPECT_EQ(mask.note, "");
  EXPECT_THAT(read_mask(file, "photo", photo_with(1), {}).values, ElementsAreArray(kWanted));
}

TEST(KnownMasks, PaddingIsNoPartOfThePhoto) {
  ViewTransform padded = photo_with(1);
  padded.network_width = 5;
  padded.offset_x = -2;  // one network pixel to the left of the photo, one to the right
  Image white = black(kWidth, kHeight);
  std::ranges::fill(white.rgb, 255);
  EXPECT_THAT(read_mask(file_of(white), "photo", padded, {}).values, ElementsAreArray({0, 1, 1, 1, 0, 0, 1, 1, 1, 0}));
}

TEST(KnownMasks, NameWhatDoesNotFit) {
  const auto message = [](const Image& image, int orientation) {
    try {
      read_mask(file_of(image), "photo.jpg", photo_with(orientation), {});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message(black(5, 4), 1), HasSubstr("mask 'mask.png' has 5x4 pixels, want 6x4 as photo 'photo.jpg'"));
  EXPECT_THAT(message(black(4, 6), 1), HasSubstr("has 4x6 pixels"));
  EXPECT_THAT(message(black(3, 3), 6), HasSubstr("or as it is stored"));
  EXPECT_THAT(message(black(6, 4), 1), HasSubstr("it is black"));
}

}  // namespace
}  // namespace pointmap
