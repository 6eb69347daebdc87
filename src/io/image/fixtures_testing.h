// Small picture files made on the spot, for the tests and the fuzzer: nothing is downloaded, nothing binary is checked in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "io/image/image.h"

namespace pointmap::fixtures {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::string_view text);
Bytes operator+(Bytes left, const Bytes& right);

// Four flat quarters: red, green above; blue, white below. Codecs with loss keep the middle of a quarter within a few levels.
Image quarters(int width, int height);

// A TIFF block whose first directory holds `orientation` (as SHORT, count 1) after one other entry.
Bytes exif_block(int orientation, bool big_endian);
// One directory with one entry, little-endian, as given.
Bytes exif_block_with_entry(uint16_t tag, uint16_t type, uint32_t count, uint32_t value);

// ---- JPEG (jpeg_testing.cc)

enum class JpegColor { kYcc, kRgb, kGrey, kCmyk, kYcck, kTwoComponents };

struct JpegSpec {
  JpegColor color = JpegColor::kYcc;
  bool progressive = false;
  bool half_chroma = false;  // 4:2:0
  bool adobe_marker = true;  // for kCmyk: without it nothing says that samples are inverted
  int restart_interval = 0;  // in MCUs
  bool tables = true;        // quantisation and Huffman tables; false: left out of the file
  Bytes app1 = {};           // content of an APP1 segment, "Exif\0\0" included
};

// Quality 100. `samples` is [height, width, components] as they go into the file (CMYK inverted by the caller).
Bytes make_jpeg(const std::vector<uint8_t>& samples, int width, int height, const JpegSpec& spec);
Bytes make_jpeg(const Image& image, const JpegSpec& spec = {});

// ---- PNG (png_testing.cc), written by hand so that it can be wrong on purpose

Bytes png_chunk(std::string_view type, const Bytes& data);
Bytes be32(uint32_t value);
// zlib stream of stored blocks.
Bytes zlib_stored(const Bytes& raw);

struct PngSpec {
  uint32_t width = 1;
  uint32_t height = 1;
  uint8_t bit_depth = 8;
  uint8_t color_type = 2;
  uint8_t interlace = 0;
  Bytes rows = {};          // filter byte and packed samples, row after row
  Bytes before_image = {};  // whole chunks
  Bytes after_image = {};
  bool end = true;  // IEND
};

Bytes make_png(const PngSpec& spec);
// 8-bit RGB, plain or Adam7.
PngSpec png_spec_of(const Image& image, bool interlaced = false);
// Recomputes every checksum that can be found, so that edits reach the code behind them.
void repair_png_checksums(Bytes& png);

// ---- WebP (webp_testing.cc)

// `samples` is [height, width, channels], channels 3 or 4. quality 100 when lossy.
Bytes make_webp(const std::vector<uint8_t>& samples, int width, int height, int channels, bool lossless);
Bytes webp_with_exif(const Bytes& webp, const Bytes& exif);
Bytes make_animated_webp(const Image& frame);

// ---- HEIC (heif_testing.cc; heif_missing_testing.cc gives no bytes)

// Empty when this build cannot write HEIC. Alpha, when asked for, is 0 in the left half and 255 in the right.
Bytes make_heic(const Image& image, bool with_alpha = false);

}  // namespace pointmap::fixtures
