// Odd and hostile PNG files.
#include "io/image/odd_files_testing.h"

namespace pointmap::odd_files {
namespace {

// A row of pixels given by its packed bytes.
Bytes one_row(uint32_t width, uint8_t bit_depth, uint8_t color_type, std::initializer_list<int> packed, const Bytes& before_image = {}) {
  return make_png({.width = width,
                   .height = 1,
                   .bit_depth = bit_depth,
                   .color_type = color_type,
                   .rows = raw({0}) + raw(packed),
                   .before_image = before_image});
}

constexpr uint8_t kGreyType = 0;
constexpr uint8_t kRgbType = 2;
constexpr uint8_t kPaletteType = 3;
constexpr uint8_t kGreyAlphaType = 4;
constexpr uint8_t kRgbaType = 6;

Bytes palette() {
  return png_chunk("PLTE", raw({1, 2, 3, 40, 50, 60, 70, 80, 90}));
}

Bytes png(const std::function<void(PngSpec&)>& change = [](PngSpec&) {}) {
  PngSpec spec = png_spec_of(kQuarters);
  change(spec);
  return make_png(spec);
}

Picture png_pixel(int width, int x, Rgb rgb, bool had_alpha = false) {
  return {"PNG", width, 1, x, 0, rgb, 0, 1, had_alpha};
}

Picture png_quarters(int x, int y, Rgb rgb) {
  return {"PNG", 32, 16, x, y, rgb};
}

Bytes broken_crc(Bytes chunk) {
  chunk.back() ^= std::byte{1};
  return chunk;
}

}  // namespace

std::vector<Row> png_rows() {
  return {
      {"PNG RGB", [] { return png(); }, png_quarters(31, 0, kGreen)},
      {"PNG interlaced", [] { return make_png(png_spec_of(kQuarters, true)); }, png_quarters(15, 8, kBlue)},
      {"PNG grey",
       [] {
         return one_row(3, 8, kGreyType, {0, 100, 200});
       },
       png_pixel(3, 1, {100, 100, 100})},
      {"PNG grey of 1 bit", [] { return one_row(8, 1, kGreyType, {0b01000000}); }, png_pixel(8, 1, kWhite)},
      {"PNG grey of 2 bits", [] { return one_row(4, 2, kGreyType, {0b00011011}); }, png_pixel(4, 2, {170, 170, 170})},
      {"PNG grey of 4 bits", [] { return one_row(2, 4, kGreyType, {0x5A}); }, png_pixel(2, 1, {170, 170, 170})},
      {"PNG grey of 16 bits keeps the high byte",
       [] {
         return one_row(2, 16, kGreyType, {0x12, 0xFF, 0x80, 0x00});
       },
       png_pixel(2, 0, {0x12, 0x12, 0x12})},
      {"PNG RGB of 16 bits keeps the high byte",
       [] {
         return one_row(1, 16, kRgbType, {1, 255, 2, 128, 3, 0});
       },
       png_pixel(1, 0, {1, 2, 3})},
      {"PNG palette",
       [] {
         return one_row(3, 8, kPaletteType, {2, 1, 0}, palette());
       },
       png_pixel(3, 0, {70, 80, 90})},
      {"PNG palette of 2 bits", [] { return one_row(4, 2, kPaletteType, {0b00011000}, palette()); }, png_pixel(4, 1, {40, 50, 60})},
      {"PNG palette index outside", [] { return one_row(1, 8, kPaletteType, {3}, palette()); }, png_pixel(1, 0, {0, 0, 0})},
      {"PNG palette with transparency over white",
       [] {
         return one_row(2, 8, kPaletteType, {0, 1}, palette() + png_chunk("tRNS", raw({0, 128})));
       },
       png_pixel(2, 1, {147, 152, 157}, true)},  // (40 * 128 + 255 * 127) / 255 = 147.08 and so on
      {"PNG palette with transparency dropped",
       [] {
         return one_row(2, 8, kPaletteType, {0, 1}, palette() + png_chunk("tRNS", raw({0, 128})));
       },
       png_pixel(2, 0, {1, 2, 3}, true), kDropAlpha},
      {"PNG transparent grey",
       [] {
         return one_row(2, 8, kGreyType, {7, 8}, png_chunk("tRNS", raw({0, 7})));
       },
       png_pixel(2, 0, kWhite, true)},
      {"PNG transparent colour of 16 bits compares 16 bits",
       [] {
         return one_row(2, 16, kRgbType, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}, png_chunk("tRNS", raw({1, 1, 1, 1, 1, 2})));
       },
       png_pixel(2, 0, {1, 1, 1}, true)},
      {"PNG RGBA over white",
       [] {
         return one_row(1, 8, kRgbaType, {10, 20, 200, 51});
       },
       png_pixel(1, 0, {206, 208, 244}, true)},  // a fifth
      {"PNG RGBA dropped",
       [] {
         return one_row(1, 8, kRgbaType, {10, 20, 200, 0});
       },
       png_pixel(1, 0, {10, 20, 200}, true), kDropAlpha},
      {"PNG RGBA of 16 bits",
       [] {
         return one_row(1, 16, kRgbaType, {10, 9, 20, 9, 30, 9, 255, 255});
       },
       png_pixel(1, 0, {10, 20, 30}, true)},
      {"PNG grey and alpha",
       [] {
         return one_row(2, 8, kGreyAlphaType, {50, 0, 60, 255});
       },
       png_pixel(2, 1, {60, 60, 60}, true)},
      {"PNG grey and alpha of 16 bits",
       [] {
         return one_row(1, 16, kGreyAlphaType, {50, 1, 0, 0});
       },
       png_pixel(1, 0, kWhite, true)},
      {"PNG EXIF orientation", [] { return png([](PngSpec& s) { s.before_image = png_chunk("eXIf", exif_block(6, true)); }); },
       Picture{"PNG", 16, 32, 15, 0, kRed, 0, 6}},
      {"PNG EXIF after the image", [] { return png([](PngSpec& s) { s.after_image = png_chunk("eXIf", exif_block(3, false)); }); },
       Picture{"PNG", 32, 16, 31, 15, kRed, 0, 3}},
      {"PNG broken EXIF is ignored", [] { return png([](PngSpec& s) { s.before_image = png_chunk("eXIf", bytes_of("MM??")); }); },
       png_quarters(0, 0, kRed)},
      {"PNG text with a bad checksum is ignored",
       [] { return png([](PngSpec& s) { s.before_image = broken_crc(png_chunk("tEXt", bytes_of("a"))); }); }, png_quarters(0, 0, kRed)},
      {"PNG unknown ancillary chunk", [] { return png([](PngSpec& s) { s.before_image = png_chunk("abCd", bytes_of("x")); }); },
       png_quarters(0, 0, kRed)},
      {"PNG bytes after the end", [] { return png() + bytes_of("trailer"); }, png_quarters(0, 0, kRed)},
      {"PNG unknown critical chunk", [] { return png([](PngSpec& s) { s.before_image = png_chunk("ABCD", bytes_of("x")); }); },
       Failure{kCorruptData, "PNG"}},
      {"PNG bad header checksum",
       [] {
         return with(png(), 29, {0, 0, 0, 0});
       },
       Failure{kCorruptData, "PNG"}},
      {"PNG bad image checksum",
       [] {
         Bytes b = png();
         b[b.size() - 13] ^= std::byte{1};
         return b;
       },
       Failure{kCorruptData, "PNG"}},
      {"PNG palette missing", [] { return one_row(1, 8, kPaletteType, {0}); }, Failure{kCorruptData, "PNG"}},
      {"PNG filter of no kind", [] { return png([](PngSpec& s) { s.rows[0] = std::byte{9}; }); }, Failure{kCorruptData, "PNG"}},
      {"PNG image data too short", [] { return png([](PngSpec& s) { s.rows.pop_back(); }); }, Failure{kCorruptData, "PNG"}},
      {"PNG no end chunk", [] { return png([](PngSpec& s) { s.end = false; }); }, Failure{kCorruptData, "PNG"}},
      {"PNG cut", [] { return cut(png(), 40); }, Failure{kCorruptData, "PNG"}},
      {"PNG signature alone", [] { return cut(png(), png().size() - 8); }, Failure{kCorruptData, "PNG"}},
      {"PNG of no width", [] { return png([](PngSpec& s) { s.width = 0; }); }, Failure{kCorruptData, "PNG"}},
      {"PNG of no height", [] { return png([](PngSpec& s) { s.height = 0; }); }, Failure{kCorruptData, "PNG"}},
      {"PNG of 10 gigapixels", [] { return png([](PngSpec& s) { s.width = s.height = 100000; }); },
       Failure{kLimitExceeded, "100000 x 100000 pixels, the limit is"}},
      {"PNG of 2147483647 squared", [] { return png([](PngSpec& s) { s.width = s.height = 0x7FFFFFFF; }); },
       Failure{kLimitExceeded, "PNG"}},
      {"PNG wider than the format allows", [] { return png([](PngSpec& s) { s.width = 0xFFFFFFFF; }); }, Failure{kCorruptData, "PNG"}},
      {"PNG that is too short for its size", [] { return png([](PngSpec& s) { s.width = s.height = 16000; }); },
       Failure{kCorruptData, "cannot hold 16000 x 16000"}},
      {"PNG one pixel over the limit",
       [] { return png(); },
       Failure{kLimitExceeded, "32 x 16 pixels, the limit is 511"},
       {.max_pixels = 511}},
      {"PNG of 3 bits", [] { return png([](PngSpec& s) { s.bit_depth = 3; }); }, Failure{kCorruptData, "PNG"}},
      {"PNG colour type 5", [] { return png([](PngSpec& s) { s.color_type = 5; }); }, Failure{kCorruptData, "PNG"}},
      {"PNG interlace method 2", [] { return png([](PngSpec& s) { s.interlace = 2; }); }, Failure{kCorruptData, "PNG"}},
  };
}

}  // namespace pointmap::odd_files
