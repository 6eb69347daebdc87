// A table of odd and hostile files, each with its documented result: a picture of known size and colour, or an error of known kind whose
// message names the file. Every file is made here. JPEG, EXIF and PNG rows are in odd_jpeg_test.cc and odd_png_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>

#include "io/image/odd_files_testing.h"

namespace pointmap::odd_files {

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.what;
}

namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string googletest_name(const testing::TestParamInfo<Row>& info) {
  std::string name;
  for (const char c : info.param.what) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

class OddFile : public testing::TestWithParam<Row> {};

void expect_picture(const DecodedImage& got, const Picture& want) {
  EXPECT_EQ(got.format, want.format);
  EXPECT_EQ(got.exif_orientation, want.orientation);
  EXPECT_EQ(got.had_alpha, want.had_alpha);
  ASSERT_EQ(got.image.width, want.width);
  ASSERT_EQ(got.image.height, want.height);
  ASSERT_EQ(got.image.rgb.size(), static_cast<size_t>(want.width) * static_cast<size_t>(want.height) * 3);
  EXPECT_EQ(got.stored_width, want.orientation < 5 ? want.width : want.height);
  EXPECT_EQ(got.stored_height, want.orientation < 5 ? want.height : want.width);
  const uint8_t* pixel = got.image.pixel(want.x, want.y);
  EXPECT_NEAR(pixel[0], want.rgb.r, want.tolerance);
  EXPECT_NEAR(pixel[1], want.rgb.g, want.tolerance);
  EXPECT_NEAR(pixel[2], want.rgb.b, want.tolerance);
}

TEST_P(OddFile, GivesTheDocumentedResult) {
  const Row& row = GetParam();
  const Bytes bytes = row.make();
  const auto* failure = std::get_if<Failure>(&row.want);
  try {
    const DecodedImage got = decode_image(bytes, "photo.jpg", row.options);
    if (failure != nullptr) FAIL() << "accepted, " << got.image.width << " x " << got.image.height;
    expect_picture(got, std::get<Picture>(row.want));
  } catch (const Error& error) {
    if (failure == nullptr) FAIL() << "refused: " << error.what();
    EXPECT_EQ(error.code(), failure->code) << error.what();
    EXPECT_THAT(error.what(), StartsWith("photo.jpg: "));
    EXPECT_THAT(error.what(), HasSubstr(failure->part_of_message));
  }
}

// ---- WebP and HEIC

Bytes webp(bool lossless = true) {
  return make_webp(kQuarters.rgb, 32, 16, 3, lossless);
}

Bytes webp_with_alpha(bool lossless) {
  std::vector<uint8_t> rgba;
  for (int i = 0; i < 16 * 16; ++i) rgba.insert(rgba.end(), {255, 0, 0, static_cast<uint8_t>(i % 16 < 8 ? 0 : 255)});
  return make_webp(rgba, 16, 16, 4, lossless);
}

std::vector<Row> webp_rows() {
  return {
      {"WebP lossless", [] { return webp(); }, Picture{"WebP", 32, 16, 0, 15, kBlue}},
      {"WebP lossy", [] { return webp(false); }, Picture{"WebP", 32, 16, 4, 4, kRed, 6}},
      {"WebP lossless alpha over white", [] { return webp_with_alpha(true); }, Picture{"WebP", 16, 16, 2, 2, kWhite, 0, 1, true}},
      {"WebP lossless alpha dropped", [] { return webp_with_alpha(true); }, Picture{"WebP", 16, 16, 2, 2, kRed, 0, 1, true}, kDropAlpha},
      {"WebP lossy alpha over white", [] { return webp_with_alpha(false); }, Picture{"WebP", 16, 16, 2, 2, kWhite, 0, 1, true}},
      {"WebP EXIF orientation", [] { return webp_with_exif(webp(), exif_block(8, false)); }, Picture{"WebP", 16, 32, 0, 31, kRed, 0, 8}},
      {"WebP EXIF with the prefix of JPEG",
       [] { return webp_with_exif(webp(), bytes_of(std::string_view("Exif\0\0", 6)) + exif_block(3, true)); },
       Picture{"WebP", 32, 16, 31, 15, kRed, 0, 3}},
      {"WebP broken EXIF is ignored", [] { return webp_with_exif(webp(), bytes_of("II")); }, Picture{"WebP", 32, 16, 0, 0, kRed}},
      {"WebP animated", [] { return make_animated_webp(kQuarters); }, Failure{kUnsupported, "animated"}},
      {"WebP cut", [] { return cut(webp(), 8); }, Failure{kCorruptData, "WebP"}},
      {"WebP lossy cut", [] { return cut(webp(false), 8); }, Failure{kCorruptData, "WebP"}},
      {"WebP magic alone", [] { return bytes_of("RIFF____WEBP"); }, Failure{kCorruptData, "WebP"}},
      {"WebP of an unknown chunk",
       [] {
         return with(webp(), 12, {'X', 'X', 'X', 'X'});
       },
       Failure{kCorruptData, "WebP"}},
      {"WebP container larger than the file",
       [] {
         return with(webp(), 4, {0xFF, 0xFF, 0xFF, 0x7F});
       },
       Failure{kCorruptData, "WebP"}},
      {"WebP over the limit", [] { return webp(); }, Failure{kLimitExceeded, "32 x 16 pixels, the limit is 100"}, {.max_pixels = 100}},
  };
}

std::vector<Row> heic_rows() {
  const Image large = quarters(128, 64);
  const Bytes heic = make_heic(large);
  if (heic.empty()) return {};  // no encoder in this build; HeicFixturesAreMade below says so
  return {
      {"HEIC", [=] { return heic; }, Picture{"HEIC", 128, 64, 16, 16, kRed, 8}},
      {"HEIC alpha over white", [=] { return make_heic(large, true); }, Picture{"HEIC", 128, 64, 16, 16, kWhite, 3, 1, true}},
      {"HEIC cut in its pixels", [=] { return cut(heic, 20); }, Failure{kCorruptData, "HEIC"}},
      {"HEIC cut in its boxes", [=] { return Bytes(heic.begin(), heic.begin() + 100); }, Failure{kCorruptData, "HEIC"}},
      {"HEIC over the limit", [=] { return heic; }, Failure{kLimitExceeded, "128 x 64 pixels, the limit is 100"}, {.max_pixels = 100}},
      {"HEIC that is AVIF",
       [=] {
         return with(heic, 8, {'a', 'v', 'i', 'f'});
       },
       Failure{kUnsupported, "AVIF"}},
      {"HEIC that is a video",
       [=] {
         return with(heic, 8, {'i', 's', 'o', 'm'});
       },
       Failure{kUnsupported, "ISO media"}},
  };
}

// ---- Files of other kinds

std::vector<Row> other_rows() {
  using namespace std::string_view_literals;
  const auto refused = [](const char* what, std::string_view content, const char* part_of_message) {
    return Row{what, [=] { return bytes_of(content); }, Failure{kUnsupported, part_of_message}};
  };
  return {
      {"empty file", [] { return Bytes{}; }, Failure{kCorruptData, "empty"}},
      {"PNG under the name of a JPEG", [] { return make_png(png_spec_of(kQuarters)); },
       Picture{"PNG", 32, 16, 0, 0, kRed}},  // every row's name is photo.jpg; for the record
      refused("one byte", "\xFF", "not an image: begins with bytes ff;"),
      refused("text", "hello, world", "not an image: begins with bytes 68 65 6c"),
      refused("web page", "<!doctype html><html>", "not an image"),
      refused("zeros", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv, "not an image"),
      refused("PNG mangled by a text transfer", "\x89PNG\n\x1A\n\0\0\0\rIHDR"sv, "not an image"),
      refused("GIF", "GIF89a\1\0\1\0", "a GIF file"),
      refused("BMP", "BM\0\0\0\0"sv, "a BMP file"),
      refused("TIFF little endian", "II*\0\x08\0\0\0"sv, "a TIFF"),
      refused("TIFF big endian", "MM\0*\0\0\0\x08"sv, "a TIFF"),
      refused("JPEG XL codestream", "\xFF\x0A\0\0"sv, "a JPEG XL file"),
      refused("JPEG XL container", "\0\0\0\x0CJXL \r\n\x87\n"sv, "a JPEG XL file"),
      refused("JPEG 2000", "\0\0\0\x0CjP  \r\n\x87\n"sv, "a JPEG 2000 file"),
      refused("Photoshop", "8BPS\0\1"sv, "a Photoshop file"),
      refused("PDF", "%PDF-1.4", "a PDF file"),
      refused("sound in RIFF", "RIFF\x10\0\0\0WAVEfmt "sv, "not an image"),
      refused("ISO box cut in its brand",
              "\0\0\0\x18"
              "ftyphe"sv,
              "not an image"),
  };
}

INSTANTIATE_TEST_SUITE_P(Jpeg, OddFile, testing::ValuesIn(jpeg_rows()), googletest_name);
INSTANTIATE_TEST_SUITE_P(Exif, OddFile, testing::ValuesIn(exif_rows()), googletest_name);
INSTANTIATE_TEST_SUITE_P(Png, OddFile, testing::ValuesIn(png_rows()), googletest_name);
INSTANTIATE_TEST_SUITE_P(Webp, OddFile, testing::ValuesIn(webp_rows()), googletest_name);
INSTANTIATE_TEST_SUITE_P(Heic, OddFile, testing::ValuesIn(heic_rows()), googletest_name);
INSTANTIATE_TEST_SUITE_P(Other, OddFile, testing::ValuesIn(other_rows()), googletest_name);

TEST(OddFiles, HeicFixturesAreMade) {
  if (make_heic(quarters(128, 64)).empty()) GTEST_SKIP() << "this build has no HEIC encoder: the HEIC rows are not run";
}

}  // namespace
}  // namespace pointmap::odd_files
