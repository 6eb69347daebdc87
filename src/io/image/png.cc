// PNG through libspng rather than libpng: limits on sizes and chunks and a verdict by return value instead of longjmp. 16-bit samples keep
// their high byte, as Pillow does for colour (for 16-bit grey Pillow clips at 255, which turns pictures white; we take the high byte there
// too).
#include <spng.h>

#include <memory>

#include "base/error.h"
#include "io/image/codecs.h"
#include "io/image/exif.h"
#include "io/image/png_unpack.h"

namespace pointmap::codec {
namespace {

constexpr size_t kMaxChunkBytes = size_t{64} << 20;  // of one ancillary chunk (a colour profile, text), unpacked
constexpr size_t kMaxCacheBytes = size_t{64} << 20;  // of all of them

using Context = std::unique_ptr<spng_ctx, void (*)(spng_ctx*)>;

void check(int result, const Source& source) {
  if (result == SPNG_OK) return;
  ErrorCode code = kCorruptData;
  if (result == SPNG_EMEM || result == SPNG_ECHUNK_LIMITS || result == SPNG_EOVERFLOW) code = kLimitExceeded;
  throw Error{code, source.name + ": broken or truncated PNG: " + spng_strerror(result)};
}

int samples_per_pixel(const spng_ihdr& header) {
  switch (header.color_type) {
    case SPNG_COLOR_TYPE_TRUECOLOR:
      return 3;
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA:
      return 2;
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA:
      return 4;
    default:
      return 1;
  }
}

// Deflate shrinks at most 1032 times, so a small file cannot hold a large picture: spares us the memory.
void refuse_if_too_short(const Source& source, const spng_ihdr& header) {
  const uint64_t bits = uint64_t{header.width} * header.height * static_cast<uint64_t>(samples_per_pixel(header)) * header.bit_depth;
  if (bits / 8 / 1032 > source.bytes.size()) {
    throw Error{kCorruptData, source.name + ": truncated PNG: " + std::to_string(source.bytes.size()) + " bytes cannot hold " +
                                  std::to_string(header.width) + " x " + std::to_string(header.height) + " pixels"};
  }
}

Context open(std::span<const std::byte> bytes, const Source& source, int flags = 0) {
  Context context(spng_ctx_new(flags), spng_ctx_free);
  if (context == nullptr) throw Error{kLimitExceeded, source.name + ": not enough memory to decode"};
  check(spng_set_chunk_limits(context.get(), kMaxChunkBytes, kMaxCacheBytes), source);
  check(spng_set_png_buffer(context.get(), bytes.data(), bytes.size()), source);
  return context;
}

// Both sides within the limits.
spng_ihdr read_header(const Source& source) {
  const Context context = open(source.bytes, source);
  spng_ihdr header{};
  check(spng_get_ihdr(context.get(), &header), source);
  check_size(source, header.width, header.height);
  refuse_if_too_short(source, header);
  return header;
}

PngRows rows_of(const spng_ihdr& header) {
  const uint64_t pixel_bits = static_cast<uint64_t>(samples_per_pixel(header)) * header.bit_depth;
  return {.height = header.height, .row_bytes = (header.width * pixel_bits + 7) / 8, .pixel_bytes = (pixel_bits + 7) / 8};
}

Picture decode(spng_ctx* context, const spng_ihdr& header, const Source& source) {
  spng_trns transparency{};
  const bool has_alpha = header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA || header.color_type == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA ||
                         spng_get_trns(context, &transparency) == SPNG_OK;
  Picture picture = blank_picture(header.width, header.height, has_alpha ? 4 : 3);
  check(spng_decode_image(context, picture.samples.data(), picture.samples.size(), has_alpha ? SPNG_FMT_RGBA8 : SPNG_FMT_RGB8,
                          has_alpha ? SPNG_DECODE_TRNS : 0),
        source);
  check(spng_decode_chunks(context), source);  // to the end marker: a file cut after its pixels is truncated too

  spng_exif exif{};
  if (spng_get_exif(context, &exif) == SPNG_OK) {
    picture.exif_orientation = exif_orientation({reinterpret_cast<const std::byte*>(exif.data), exif.length});
  }
  return picture;
}

}  // namespace

Picture decode_png(const Source& source) {
  const spng_ihdr header = read_header(source);
  // A broken text chunk is no reason to refuse the picture.
  const auto unpacked = header.interlace_method == SPNG_INTERLACE_NONE ? unpack_png(source.bytes, rows_of(header)) : std::nullopt;
  if (unpacked) {
    const Context context = open(*unpacked, source, SPNG_CTX_IGNORE_ADLER32);
    spng_set_crc_action(context.get(), SPNG_CRC_USE, SPNG_CRC_DISCARD);
    return decode(context.get(), header, source);
  }
  const Context context = open(source.bytes, source);
  spng_set_crc_action(context.get(), SPNG_CRC_ERROR, SPNG_CRC_DISCARD);
  return decode(context.get(), header, source);
}

}  // namespace pointmap::codec
