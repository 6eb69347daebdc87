// libspng again (see png.cc): one PNG library for both ways.
#include "io/image/png_encode.h"

#include <spng.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "base/check.h"

namespace pointmap {
namespace {

// zlib's level: 6 costs about twice the time of 3 for a few per cent of a photo.
constexpr int kCompressionLevel = 4;

void check(int result) {
  if (result != SPNG_OK)
    throw Error{result == SPNG_EMEM ? kLimitExceeded : kInternal, std::string("PNG encoder: ") + spng_strerror(result)};
}

struct Layout {
  int width;
  int height;
  uint8_t bit_depth;
  int channels;
};

// `samples` in host byte order; libspng swaps.
std::vector<std::byte> encode(const void* samples, size_t bytes, const Layout& layout) {
  POINTMAP_CHECK(layout.width > 0 && layout.height > 0 && (layout.channels == 1 || layout.channels == 3),
                 "PNG of " + std::to_string(layout.width) + " x " + std::to_string(layout.height) + " with " +
                     std::to_string(layout.channels) + " channels: sizes must be positive, channels 1 or 3");
  const size_t row_bytes = checked_mul(static_cast<size_t>(layout.width), static_cast<size_t>(layout.channels) * layout.bit_depth / 8);
  const size_t wanted = checked_mul(row_bytes, static_cast<size_t>(layout.height));
  POINTMAP_CHECK(bytes == wanted, "PNG samples: got " + std::to_string(bytes) + " bytes, want " + std::to_string(wanted));

  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> context(spng_ctx_new(SPNG_CTX_ENCODER), spng_ctx_free);
  if (context == nullptr) check(SPNG_EMEM);
  check(spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1));
  check(spng_set_option(context.get(), SPNG_IMG_COMPRESSION_LEVEL, kCompressionLevel));
  spng_ihdr header{};
  header.width = static_cast<uint32_t>(layout.width);
  header.height = static_cast<uint32_t>(layout.height);
  header.bit_depth = layout.bit_depth;
  header.color_type = static_cast<uint8_t>(layout.channels == 3 ? SPNG_COLOR_TYPE_TRUECOLOR : SPNG_COLOR_TYPE_GRAYSCALE);
  check(spng_set_ihdr(context.get(), &header));
  check(spng_encode_image(context.get(), samples, bytes, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE));

  size_t png_bytes = 0;
  int error = SPNG_OK;
  const std::unique_ptr<void, void (*)(void*)> png(spng_get_png_buffer(context.get(), &png_bytes, &error), std::free);
  check(error);
  const auto* begin = static_cast<const std::byte*>(png.get());
  return {begin, begin + png_bytes};
}

}  // namespace

std::vector<std::byte> encode_png8(const Image& image) {
  return encode_png8(image.rgb, image.width, image.height, 3);
}

std::vector<std::byte> encode_png8(std::span<const uint8_t> samples, int width, int height, int channels) {
  return encode(samples.data(), samples.size(), {width, height, 8, channels});
}

std::vector<std::byte> encode_png16(std::span<const uint16_t> grey, int width, int height) {
  return encode(grey.data(), grey.size_bytes(), {width, height, 16, 1});
}

}  // namespace pointmap
