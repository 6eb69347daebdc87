// PNG fixtures written byte by byte: an encoder library would refuse to make most of them.
#include <algorithm>
#include <cstring>

#include "io/image/fixtures_testing.h"

namespace pointmap::fixtures {
namespace {

constexpr size_t kSignatureBytes = 8;

uint32_t crc32_of(const std::byte* data, size_t count) {
  uint32_t crc = 0xFFFFFFFFU;
  for (size_t i = 0; i < count; ++i) {
    crc ^= std::to_integer<uint32_t>(data[i]);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320U : 0);
  }
  return ~crc;
}

uint32_t adler32_of(const Bytes& data) {
  uint32_t a = 1;
  uint32_t b = 0;
  for (const std::byte byte : data) {
    a = (a + std::to_integer<uint32_t>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

uint32_t read_be32(const Bytes& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<uint32_t>(bytes[at + i]);
  return value;
}

Bytes le16(uint32_t value) {
  return {static_cast<std::byte>(value), static_cast<std::byte>(value >> 8)};
}

// Rows of the pixels x = x0, x0 + dx, ... and y = y0, y0 + dy, ...; none when there is no such pixel.
void append_rows(Bytes& rows, const Image& image, int x0, int y0, int dx, int dy) {
  for (int y = y0; y < image.height && x0 < image.width; y += dy) {
    rows.push_back(std::byte{0});  // no filter
    for (int x = x0; x < image.width; x += dx) {
      for (int c = 0; c < 3; ++c) rows.push_back(static_cast<std::byte>(image.pixel(x, y)[c]));
    }
  }
}

}  // namespace

Bytes be32(uint32_t value) {
  return {static_cast<std::byte>(value >> 24), static_cast<std::byte>(value >> 16), static_cast<std::byte>(value >> 8),
          static_cast<std::byte>(value)};
}

Bytes png_chunk(std::string_view type, const Bytes& data) {
  const Bytes body = bytes_of(type) + data;
  return be32(static_cast<uint32_t>(data.size())) + body + be32(crc32_of(body.data(), body.size()));
}

Bytes zlib_stored(const Bytes& raw) {
  Bytes out = {std::byte{0x78}, std::byte{0x01}};
  for (size_t at = 0; at == 0 || at < raw.size(); at += 65535) {
    const size_t count = std::min<size_t>(65535, raw.size() - at);
    out.push_back(std::byte{at + count == raw.size()});  // the last block says so
    out = out + le16(static_cast<uint32_t>(count)) + le16(~static_cast<uint32_t>(count));
    out.insert(out.end(), raw.begin() + static_cast<ptrdiff_t>(at), raw.begin() + static_cast<ptrdiff_t>(at + count));
  }
  return out + be32(adler32_of(raw));
}

Bytes make_png(const PngSpec& spec) {
  Bytes header = be32(spec.width) + be32(spec.height);
  for (const uint8_t value : {spec.bit_depth, spec.color_type, uint8_t{0}, uint8_t{0}, spec.interlace}) {
    header.push_back(static_cast<std::byte>(value));
  }
  return bytes_of("\x89PNG\r\n\x1A\n") + png_chunk("IHDR", header) + spec.before_image + png_chunk("IDAT", zlib_stored(spec.rows)) +
         spec.after_image + (spec.end ? png_chunk("IEND", {}) : Bytes{});
}

PngSpec png_spec_of(const Image& image, bool interlaced) {
  PngSpec spec{.width = static_cast<uint32_t>(image.width), .height = static_cast<uint32_t>(image.height)};
  if (!interlaced) {
    append_rows(spec.rows, image, 0, 0, 1, 1);
    return spec;
  }
  spec.interlace = 1;
  constexpr int kAdam7[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  for (const auto& [x0, y0, dx, dy] : kAdam7) append_rows(spec.rows, image, x0, y0, dx, dy);
  return spec;
}

void repair_png_checksums(Bytes& png) {
  for (size_t at = kSignatureBytes; at + 12 <= png.size();) {
    const size_t length = read_be32(png, at);
    if (length > png.size() - at - 12) return;
    const Bytes crc = be32(crc32_of(png.data() + at + 4, length + 4));
    std::memcpy(png.data() + at + 8 + length, crc.data(), 4);
    at += 12 + length;
  }
}

}  // namespace pointmap::fixtures
