// The fixtures that belong to no codec: the test picture and EXIF blocks.
#include "io/image/fixtures_testing.h"

namespace pointmap::fixtures {
namespace {

void put(Bytes& out, uint32_t value, int count, bool big_endian) {
  for (int i = 0; i < count; ++i) out.push_back(static_cast<std::byte>(value >> 8 * (big_endian ? count - 1 - i : i)));
}

void put_entry(Bytes& out, uint16_t tag, uint16_t type, uint32_t count, bool big_endian) {
  put(out, tag, 2, big_endian);
  put(out, type, 2, big_endian);
  put(out, count, 4, big_endian);
}

void put_tiff_header(Bytes& out, bool big_endian) {
  out = bytes_of(big_endian ? "MM" : "II");
  put(out, 42, 2, big_endian);
  put(out, 8, 4, big_endian);
}

}  // namespace

Bytes bytes_of(std::string_view text) {
  Bytes bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Image quarters(int width, int height) {
  Image image{width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool right = x >= width / 2;
      const bool below = y >= height / 2;
      const auto on = [](bool lit) { return static_cast<uint8_t>(lit ? 255 : 0); };
      image.rgb.insert(image.rgb.end(), {on(right == below), on(right), on(below)});
    }
  }
  return image;
}

Bytes exif_block(int orientation, bool big_endian) {
  Bytes out;
  put_tiff_header(out, big_endian);
  put(out, 2, 2, big_endian);
  put_entry(out, 0x010F, 2, 4, big_endian);  // Make, "abc"
  out = out + bytes_of(std::string_view("abc\0", 4));
  put_entry(out, 0x0112, 3, 1, big_endian);
  put(out, static_cast<uint32_t>(orientation), 2, big_endian);
  put(out, 0, 2, big_endian);
  put(out, 0, 4, big_endian);  // no next directory
  return out;
}

Bytes exif_block_with_entry(uint16_t tag, uint16_t type, uint32_t count, uint32_t value) {
  Bytes out;
  put_tiff_header(out, false);
  put(out, 1, 2, false);
  put_entry(out, tag, type, count, false);
  put(out, value, 4, false);
  put(out, 8, 4, false);  // the next directory is this one: a loop
  return out;
}

}  // namespace pointmap::fixtures
