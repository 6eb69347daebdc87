// What the table of odd files does not say: files cut at every byte, files on disk, HEIC without libheif, PNG there and back.
#include "io/image/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "io/image/fixtures_testing.h"
#include "io/image/png_encode.h"

namespace pointmap {
namespace {

using namespace fixtures;
using testing::HasSubstr;
using testing::StartsWith;

// Every beginning shorter than `needed` is refused, by name. (kUnsupported: too short to be recognised.)
void expect_every_cut_refused(const Bytes& whole, size_t needed) {
  for (size_t count = 0; count < needed; ++count) {
    try {
      decode_image(std::span(whole).first(count), "cut");
      ADD_FAILURE() << "accepted the first " << count << " of " << whole.size() << " bytes";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), StartsWith("cut: "));
      EXPECT_TRUE(error.code() == kCorruptData || (count < 12 && error.code() == kUnsupported)) << count << ": " << error.what();
    }
  }
}

void expect_every_cut_refused(const Bytes& whole) {
  expect_every_cut_refused(whole, whole.size());
}

TEST(Decode, JpegCutAnywhere) {
  expect_every_cut_refused(make_jpeg(quarters(32, 16)));
  expect_every_cut_refused(make_jpeg(quarters(32, 16), {.progressive = true}));
  expect_every_cut_refused(make_jpeg(quarters(32, 16), {.restart_interval = 1}));
}

// The last four bytes are the checksum of the empty end chunk; libspng does not miss them, and nothing else is behind them.
TEST(Decode, PngCutAnywhere) {
  for (const bool interlaced : {false, true}) {
    const Bytes whole = make_png(png_spec_of(quarters(8, 4), interlaced));
    expect_every_cut_refused(whole, whole.size() - 4);
    EXPECT_EQ(decode_image(std::span(whole).first(whole.size() - 4), "cut").image.rgb, quarters(8, 4).rgb);
  }
}

TEST(Decode, WebpCutAnywhere) {
  expect_every_cut_refused(make_webp(quarters(32, 16).rgb, 32, 16, 3, true));
  expect_every_cut_refused(make_webp(quarters(32, 16).rgb, 32, 16, 3, false));
  expect_every_cut_refused(webp_with_exif(make_webp(quarters(32, 16).rgb, 32, 16, 3, true), exif_block(6, true)));
}

TEST(Decode, HeicCutAnywhere) {
  const Bytes heic = make_heic(quarters(64, 64));
  if (heic.empty()) GTEST_SKIP() << "this build has no HEIC encoder";
  for (size_t count = 0; count < heic.size(); count += 3) {
    EXPECT_THROW(decode_image(std::span(heic).first(count), "cut"), Error) << count << " of " << heic.size();
  }
}

class Folder : public testing::Test {
 protected:
  Folder() {
    std::string pattern = testing::TempDir() + "pointmap_image_XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() override { std::filesystem::remove_all(path_); }

  std::filesystem::path write(const char* name, const Bytes& bytes) const {
    std::ofstream(path_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path_ / name;
  }

  std::filesystem::path path_;
};

using ReadImage = Folder;

ErrorCode code_of(const std::filesystem::path& path, std::string& message) {
  try {
    read_image(path);
  } catch (const Error& error) {
    message = error.what();
    return error.code();
  }
  return kInternal;
}

TEST(Decode, LeavesPixelsAsStoredWhenExifIsNotWanted) {
  const Bytes jpeg = make_jpeg(quarters(32, 16), {.app1 = bytes_of(std::string_view("Exif\0\0", 6)) + exif_block(6, true)});
  const DecodedImage stored = decode_image(jpeg, "turned.jpg", {.apply_exif = false});
  EXPECT_EQ(stored.image.rgb, decode_image(make_jpeg(quarters(32, 16)), "plain.jpg").image.rgb);
  EXPECT_EQ(stored.exif_orientation, 1);
  EXPECT_EQ(stored.ignored_exif_orientation, 6);
  const DecodedImage upright = decode_image(jpeg, "turned.jpg");
  EXPECT_EQ(upright.image.width, 16);
  EXPECT_EQ(upright.exif_orientation, 6);
  EXPECT_EQ(upright.ignored_exif_orientation, 1);
}

TEST_F(ReadImage, GoesByContentNotByName) {
  const DecodedImage got = read_image(write("photo.jpg", make_png(png_spec_of(quarters(8, 4)))));
  EXPECT_EQ(got.format, "PNG");
  EXPECT_EQ(got.image.rgb, quarters(8, 4).rgb);
}

TEST_F(ReadImage, NamesTheFile) {
  std::string message;
  EXPECT_EQ(code_of(write("empty.png", {}), message), kCorruptData);
  EXPECT_THAT(message, HasSubstr("empty.png"));
  EXPECT_EQ(code_of(path_ / "nowhere.png", message), kNotFound);
  EXPECT_THAT(message, HasSubstr("nowhere.png"));
  EXPECT_EQ(code_of(path_, message), kInvalidArgument);  // a folder
  EXPECT_THAT(message, HasSubstr(path_.filename().string()));
}

TEST(PngEncode, ColourComesBack) {
  const Image image = quarters(5, 3);
  EXPECT_EQ(decode_image(encode_png8(image), "out.png").image.rgb, image.rgb);
}

TEST(PngEncode, GreyComesBack) {
  const std::vector<uint8_t> grey = {0, 1, 128, 255};
  const DecodedImage got = decode_image(encode_png8(grey, 2, 2, 1), "out.png");
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(got.image.rgb[i * 3 + 1], grey[i]);
}

// The decoder keeps the high byte of 16, so the low byte is looked at through the file itself: stored rows are compared after undoing
// nothing, since a single row of one pixel has no neighbour to be predicted from.
TEST(PngEncode, SixteenBitsAreBigEndianInTheFile) {
  const std::vector<uint16_t> grey = {0x1234};
  const Bytes png = encode_png16(grey, 1, 1);
  EXPECT_EQ(std::to_integer<int>(png[24]), 16);  // bit depth
  EXPECT_EQ(std::to_integer<int>(png[25]), 0);   // grey
  EXPECT_EQ(int{decode_image(png, "out.png").image.rgb[0]}, 0x12);
}

TEST(PngEncode, RefusesSizesThatDoNotFit) {
  const std::vector<uint8_t> samples(12);
  EXPECT_NO_THROW(encode_png8(samples, 2, 2, 3));
  EXPECT_THROW(encode_png8(samples, 2, 3, 3), Error);
  EXPECT_THROW(encode_png8(samples, 3, 2, 2), Error);
  EXPECT_THROW(encode_png8(samples, 0, 2, 3), Error);
  EXPECT_THROW(encode_png8(samples, -2, -2, 3), Error);
  EXPECT_THROW(encode_png16(std::vector<uint16_t>(3), 2, 2), Error);
}

}  // namespace
}  // namespace pointmap
