#include "io/image/png_unpack.h"

#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "io/image/png_filters.h"

namespace pointmap::codec {

namespace {

using Bytes = std::vector<std::byte>;
using View = std::span<const std::byte>;

constexpr size_t kSignatureBytes = 8;
constexpr size_t kAroundData = 12;                          // length, type and checksum of a chunk
constexpr uint64_t kMaxUnpackedBytes = uint64_t{64} << 20;  // for a moment they are in memory twice
constexpr size_t kMaxBlockBytes = 0xFFFF;                   // of deflate's stored blocks
constexpr std::byte kAncillaryBit{0x20};                    // in the first letter of a type

struct Chunk {
  View whole;
  View data;
  std::string_view type;
  bool is_critical() const { return (whole[4] & kAncillaryBit) == std::byte{0}; }
  bool has_right_checksum() const;
};

uint32_t big_endian(View four) {
  uint32_t value = 0;
  for (const std::byte byte : four.first(4)) value = value << 8 | std::to_integer<uint32_t>(byte);
  return value;
}

void append_big_endian(uint32_t value, Bytes& out) {
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<std::byte>(value >> shift));
}

void append(View bytes, Bytes& out) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

bool Chunk::has_right_checksum() const {
  const View sealed = whole.subspan(4, 4 + data.size());
  return libdeflate_crc32(0, sealed.data(), sealed.size()) == big_endian(whole.last(4));
}

std::optional<Chunk> chunk_at(View png, size_t begin) {
  if (png.size() - begin < kAroundData) return std::nullopt;
  const size_t data_bytes = big_endian(png.subspan(begin));
  if (png.size() - begin - kAroundData < data_bytes) return std::nullopt;
  const View whole = png.subspan(begin, kAroundData + data_bytes);
  return Chunk{whole, whole.subspan(8, data_bytes), {reinterpret_cast<const char*>(whole.data() + 4), 4}};
}

// A zlib stream that holds `bytes` as they are.
void append_stored_stream(View bytes, Bytes& out) {
  out.insert(out.end(), {std::byte{0x78}, std::byte{0x01}});
  while (true) {
    const View block = bytes.first(std::min(bytes.size(), kMaxBlockBytes));
    bytes = bytes.subspan(block.size());
    const auto size = static_cast<uint16_t>(block.size());
    out.push_back(static_cast<std::byte>(bytes.empty()));  // is the last one
    for (const uint16_t value : {size, static_cast<uint16_t>(~size)}) {
      out.push_back(static_cast<std::byte>(value));
      out.push_back(static_cast<std::byte>(value >> 8));
    }
    append(block, out);
    if (bytes.empty()) return;
  }
}

// Exactly `unpacked_bytes`, from exactly `packed`.
std::optional<Bytes> inflate(View packed, size_t unpacked_bytes) {
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(libdeflate_alloc_decompressor(),
                                                                                                  libdeflate_free_decompressor);
  if (!decompressor) return std::nullopt;
  Bytes out(unpacked_bytes);
  size_t taken = 0;
  const libdeflate_result result =
      libdeflate_zlib_decompress_ex(decompressor.get(), packed.data(), packed.size(), out.data(), out.size(), &taken, nullptr);
  if (result != LIBDEFLATE_SUCCESS || taken != packed.size()) return std::nullopt;
  return out;
}

}  // namespace

std::optional<Bytes> unpack_png(View png, const PngRows& rows) {
  if (rows.height == 0 || rows.row_bytes >= kMaxUnpackedBytes / rows.height || png.size() < kSignatureBytes) return std::nullopt;
  Bytes packed;
  size_t image_begin = 0, image_end = 0;  // of the chunks with image data, which have nothing between them
  for (size_t begin = kSignatureBytes; begin < png.size();) {
    const std::optional<Chunk> chunk = chunk_at(png, begin);
    if (!chunk || (chunk->is_critical() && !chunk->has_right_checksum())) return std::nullopt;
    const size_t end = begin + chunk->whole.size();
    if (chunk->type == "IDAT") {
      if (image_end != 0 && begin != image_end) return std::nullopt;
      if (image_end == 0) image_begin = begin;
      image_end = end;
      append(chunk->data, packed);
    }
    if (chunk->type == "IEND") break;
    begin = end;
  }
  std::optional<Bytes> pixels = inflate(packed, rows.height * (1 + rows.row_bytes));
  if (!pixels) return std::nullopt;
  const std::span samples(reinterpret_cast<uint8_t*>(pixels->data()), pixels->size());
  if (!undo_png_filters(samples, rows.row_bytes, rows.pixel_bytes)) return std::nullopt;
  const size_t num_blocks = std::max<size_t>((pixels->size() + kMaxBlockBytes - 1) / kMaxBlockBytes, 1);
  const size_t stream_bytes = 2 + 5 * num_blocks + pixels->size() + 4;
  Bytes out;
  out.reserve(image_begin + kAroundData + stream_bytes + png.size() - image_end);
  append(png.first(image_begin), out);
  append_big_endian(static_cast<uint32_t>(stream_bytes), out);
  append(std::as_bytes(std::span("IDAT", 4)), out);
  append_stored_stream(*pixels, out);
  append_big_endian(libdeflate_adler32(1, pixels->data(), pixels->size()), out);
  append_big_endian(0, out);  // checksum of the chunk
  append(png.subspan(image_end), out);
  return out;
}

}  // namespace pointmap::codec
