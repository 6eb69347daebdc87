// Any bytes as a photo: an Error or a picture that keeps its promises, never a crash. The first byte of the input chooses: raw bytes, or
// one of the valid fixture files with the rest of the input as edits, so that the fuzzer gets behind signatures and checksums without a
// corpus.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/error.h"
#include "io/image/decode.h"
#include "io/image/fixtures_testing.h"
#include "io/image/resize.h"

namespace {

using namespace pointmap;
using namespace pointmap::fixtures;

void check(bool promise) {
  if (!promise) std::abort();
}

std::vector<Bytes> valid_files() {
  const Image picture = quarters(24, 16);
  std::vector<uint8_t> four_channels;
  for (size_t i = 0; i < picture.rgb.size(); i += 3) {
    four_channels.insert(four_channels.end(), {picture.rgb[i], picture.rgb[i + 1], picture.rgb[i + 2], static_cast<uint8_t>(i)});
  }
  PngSpec palette{.width = 4, .height = 1, .color_type = 3, .rows = bytes_of(std::string_view("\0\0\1\1\0", 5))};
  palette.before_image = png_chunk("PLTE", bytes_of("abcdef")) + png_chunk("tRNS", bytes_of("x")) + png_chunk("eXIf", exif_block(6, true));
  std::vector<Bytes> files = {
      make_jpeg(picture, {.app1 = bytes_of(std::string_view("Exif\0\0", 6)) + exif_block(6, false)}),
      make_jpeg(picture, {.progressive = true, .half_chroma = true, .restart_interval = 1}),
      make_jpeg(four_channels, 24, 16, {.color = JpegColor::kYcck}),
      make_png(png_spec_of(picture)),
      make_png(png_spec_of(picture, true)),
      make_png(palette),
      webp_with_exif(make_webp(picture.rgb, 24, 16, 3, true), exif_block(8, true)),
      make_webp(four_channels, 24, 16, 4, false),
  };
  const Bytes heic = make_heic(quarters(64, 64));
  if (!heic.empty()) files.push_back(heic);
  return files;
}

// Edits of three bytes: position (16 bits), new value. An odd remainder of two bytes cuts the file there.
Bytes edited(Bytes file, std::span<const uint8_t> edits) {
  for (; edits.size() >= 3; edits = edits.subspan(3)) file[(edits[0] << 8 | edits[1]) % file.size()] = static_cast<std::byte>(edits[2]);
  repair_png_checksums(file);
  if (edits.size() == 2) file.resize((edits[0] << 8 | edits[1]) % file.size());
  return file;
}

void decode(std::span<const std::byte> bytes, AlphaRule alpha) {
  const DecodeOptions options{.max_pixels = 1 << 16, .alpha = alpha};
  const DecodedImage got = decode_image(bytes, "fuzz", options);
  const auto pixels = static_cast<uint64_t>(got.image.width) * static_cast<uint64_t>(got.image.height);
  check(got.image.width > 0 && got.image.height > 0 && pixels <= options.max_pixels && got.image.rgb.size() == pixels * 3);
  check(got.exif_orientation >= 1 && got.exif_orientation <= 8);
  check(static_cast<uint64_t>(got.stored_width) * static_cast<uint64_t>(got.stored_height) == pixels);
  check(resize_image(got.image, 7, 5, ResizeFilter::kLanczos).rgb.size() == 7 * 5 * 3);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<Bytes> files = valid_files();
  if (size == 0) return 0;
  const std::span<const uint8_t> rest(data + 1, size - 1);
  try {
    if (data[0] < files.size()) {
      decode(edited(files[data[0]], rest), AlphaRule::kOverWhite);
    } else {
      decode(std::as_bytes(rest), AlphaRule::kDrop);
    }
  } catch (const Error&) {
    // Refused: as good as decoded.
  }
  return 0;
}
