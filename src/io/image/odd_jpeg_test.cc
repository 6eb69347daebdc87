// Odd and hostile JPEG files, and EXIF blocks inside them.
#include "io/image/odd_files_testing.h"

namespace pointmap::odd_files {
namespace {

Bytes jpeg(const JpegSpec& spec = {}) {
  return make_jpeg(kQuarters, spec);
}

// Four components, the same everywhere, as stored.
Bytes flat_cmyk(std::initializer_list<uint8_t> stored, const JpegSpec& spec) {
  std::vector<uint8_t> samples;
  for (int i = 0; i < 16 * 16; ++i) samples.insert(samples.end(), stored);
  return make_jpeg(samples, 16, 16, spec);
}

Bytes jpeg_with_exif(const Bytes& tiff) {
  return jpeg({.app1 = bytes_of(std::string_view("Exif\0\0", 6)) + tiff});
}

// Changes the frame header (SOF0): precision at offset 4, height 5-6, width 7-8.
Bytes jpeg_with_frame(size_t offset, std::initializer_list<int> values) {
  const Bytes whole = jpeg();
  return with(whole, position_of(whole, {0xFF, 0xC0}) + offset, values);
}

// The last scan of a progressive file, many times over.
Bytes jpeg_with_many_scans() {
  const Bytes whole = jpeg({.progressive = true});
  size_t scan = 0;
  for (size_t i = 0; i + 1 < whole.size(); ++i) {
    if (whole[i] == std::byte{0xFF} && whole[i + 1] == std::byte{0xDA}) scan = i;
  }
  Bytes out = cut(whole, 2);
  const Bytes last(whole.begin() + static_cast<ptrdiff_t>(scan), whole.end() - 2);
  for (int i = 0; i < 200; ++i) out = out + last;
  return out + raw({0xFF, 0xD9});
}

Picture jpeg_picture(int x, int y, Rgb rgb) {
  return {"JPEG", 32, 16, x, y, rgb, kLossy};
}

}  // namespace

std::vector<Row> jpeg_rows() {
  return {
      {"JPEG baseline", [] { return jpeg(); }, jpeg_picture(4, 4, kRed)},
      {"JPEG progressive", [] { return jpeg({.progressive = true}); }, jpeg_picture(24, 4, kGreen)},
      {"JPEG half chroma", [] { return jpeg({.half_chroma = true}); }, jpeg_picture(4, 12, kBlue)},
      {"JPEG stored as RGB", [] { return jpeg({.color = JpegColor::kRgb}); }, jpeg_picture(24, 12, kWhite)},
      {"JPEG restart markers", [] { return jpeg({.restart_interval = 1}); }, jpeg_picture(24, 4, kGreen)},
      {"JPEG grey", [] { return make_jpeg(std::vector<uint8_t>(64, 77), 8, 8, {.color = JpegColor::kGrey}); },
       Picture{"JPEG", 8, 8, 3, 3, {77, 77, 77}, 1}},
      {"JPEG odd size", [] { return make_jpeg(quarters(17, 9), {.half_chroma = true}); }, Picture{"JPEG", 17, 9, 2, 1, kRed, 8}},
      {"JPEG one pixel",
       [] {
         return make_jpeg({9, 9, 9}, 1, 1, {});
       },
       Picture{"JPEG", 1, 1, 0, 0, {9, 9, 9}, 1}},
      // Stored inverted: no cyan, full magenta and yellow, no black: red.
      {"JPEG CMYK Adobe",
       [] {
         return flat_cmyk({255, 0, 0, 255}, {.color = JpegColor::kCmyk});
       },
       Picture{"JPEG", 16, 16, 8, 8, kRed, 2}},
      {"JPEG CMYK without Adobe marker",
       [] {
         return flat_cmyk({255, 0, 0, 255}, {.color = JpegColor::kCmyk, .adobe_marker = false});
       },
       Picture{"JPEG", 16, 16, 8, 8, kRed, 2}},
      // Half black over cyan of 200/255: 128 - 200 * 128 / 255 = 28.
      {"JPEG YCCK",
       [] {
         return flat_cmyk({55, 255, 255, 128}, {.color = JpegColor::kYcck});
       },
       Picture{"JPEG", 16, 16, 8, 8, {28, 128, 128}, 2}},
      {"JPEG bytes after the end", [] { return jpeg() + bytes_of("trailer"); }, jpeg_picture(4, 4, kRed)},
      {"JPEG two components", [] { return make_jpeg(std::vector<uint8_t>(128, 5), 8, 8, {.color = JpegColor::kTwoComponents}); },
       Failure{kUnsupported, "JPEG"}},
      {"JPEG magic alone",
       [] {
         return raw({0xFF, 0xD8, 0xFF});
       },
       Failure{kCorruptData, "JPEG"}},
      {"JPEG end at once",
       [] {
         return raw({0xFF, 0xD8, 0xFF, 0xD9});
       },
       Failure{kCorruptData, "JPEG"}},
      {"JPEG without end marker", [] { return cut(jpeg(), 2); }, Failure{kCorruptData, "truncated JPEG"}},
      {"JPEG half", [] { return cut(jpeg(), jpeg().size() / 2); }, Failure{kCorruptData, "JPEG"}},
      {"JPEG progressive cut in its last scan", [] { return cut(jpeg({.progressive = true}), 9); }, Failure{kCorruptData, "JPEG"}},
      {"JPEG without tables", [] { return jpeg({.tables = false}); }, Failure{kCorruptData, "JPEG"}},
      {"JPEG of 4 gigapixels",
       [] {
         return jpeg_with_frame(5, {0xFF, 0, 0xFF, 0});
       },
       Failure{kLimitExceeded, "65280 x 65280 pixels, the limit is"}},
      {"JPEG larger than the library takes",
       [] {
         return jpeg_with_frame(5, {255, 255, 255, 255});
       },
       Failure{kLimitExceeded, "JPEG"}},
      {"JPEG that is too short for its size",
       [] {
         return jpeg_with_frame(5, {0x3E, 0x80, 0x3E, 0x80});
       },
       Failure{kCorruptData, "cannot hold 16000 x 16000"}},
      {"JPEG of no height",
       [] {
         return jpeg_with_frame(5, {0, 0});
       },
       Failure{kCorruptData, "JPEG"}},
      {"JPEG of no width",
       [] {
         return jpeg_with_frame(7, {0, 0});
       },
       Failure{kCorruptData, "JPEG"}},
      {"JPEG of 12 bits", [] { return jpeg_with_frame(4, {12}); }, Failure{kUnsupported, "JPEG"}},
      {"JPEG lossless", [] { return jpeg_with_frame(1, {0xC3}); }, Failure{kUnsupported, "JPEG"}},
      {"JPEG one pixel over the limit",
       [] { return jpeg(); },
       Failure{kLimitExceeded, "32 x 16 pixels, the limit is 511"},
       {.max_pixels = 511}},
      {"JPEG at the limit", [] { return jpeg(); }, jpeg_picture(4, 4, kRed), {.max_pixels = 512}},
      {"JPEG with 200 scans", jpeg_with_many_scans, Failure{kLimitExceeded, "scans"}},
  };
}

// EXIF orientation: kQuarters is 32 x 16 with red at the top left. Where is red once upright, and who is at the top left?
std::vector<Row> exif_rows() {
  std::vector<Row> rows;
  const Rgb top_left[9] = {{}, kRed, kGreen, kWhite, kBlue, kRed, kBlue, kWhite, kGreen};
  const Rgb top_right[9] = {{}, kGreen, kRed, kBlue, kWhite, kBlue, kRed, kGreen, kWhite};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const bool turned = orientation >= 5;
    const int width = turned ? 16 : 32;
    const int height = turned ? 32 : 16;
    const std::string number = std::to_string(orientation);
    rows.push_back({"EXIF little endian " + number, [=] { return jpeg_with_exif(exif_block(orientation, false)); },
                    Picture{"JPEG", width, height, 4, 4, top_left[orientation], kLossy, orientation}});
    rows.push_back({"EXIF big endian " + number, [=] { return jpeg_with_exif(exif_block(orientation, true)); },
                    Picture{"JPEG", width, height, width - 4, 4, top_right[orientation], kLossy, orientation}});
  }
  const auto ignored = [&](const char* what, const Bytes& tiff) {
    rows.push_back({std::string("EXIF ignored ") + what, [=] { return jpeg_with_exif(tiff); }, jpeg_picture(4, 4, kRed)});
  };
  ignored("orientation 0", exif_block(0, true));
  ignored("orientation 9", exif_block(9, false));
  ignored("orientation 65535", exif_block(65535, false));
  ignored("as text", exif_block_with_entry(0x0112, 2, 1, 6));
  ignored("two values", exif_block_with_entry(0x0112, 3, 2, 6));
  ignored("loop of directories", exif_block_with_entry(0x010F, 3, 1, 6));
  ignored("directory outside", with(exif_block(6, false), 4, {0xF0, 0xFF, 0xFF, 0xFF}));
  ignored("directory in the header", with(exif_block(6, false), 4, {0, 0, 0, 0}));
  ignored("65535 entries", with(exif_block_with_entry(0x010F, 3, 1, 6), 8, {255, 255}));
  ignored("wrong magic", with(exif_block(6, false), 2, {43}));
  ignored("wrong byte order", with(exif_block(6, false), 0, {'X'}));
  ignored("cut", cut(exif_block(6, false), 10));
  ignored("empty", {});
  rows.push_back({"EXIF as LONG", [] { return jpeg_with_exif(exif_block_with_entry(0x0112, 4, 1, 3)); },
                  Picture{"JPEG", 32, 16, 4, 4, kWhite, kLossy, 3}});
  return rows;
}

}  // namespace pointmap::odd_files
