// HEIC fixtures through libheif, where it comes with an encoder.
#include <libheif/heif.h>

#include <memory>

#include "io/image/fixtures_testing.h"

// The encoder libx265 leaves a few kilobytes behind; the product never encodes HEIC.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:libx265";
}

namespace pointmap::fixtures {
namespace {

heif_error collect(heif_context* /*context*/, const void* data, size_t count, void* user) {
  const auto* begin = static_cast<const std::byte*>(data);
  static_cast<Bytes*>(user)->assign(begin, begin + count);
  return {heif_error_Ok, heif_suberror_Unspecified, ""};
}

void fill(heif_image* picture, const Image& image, bool with_alpha) {
  int stride = 0;
  uint8_t* plane = heif_image_get_plane(picture, heif_channel_interleaved, &stride);
  for (int y = 0; y < image.height; ++y) {
    uint8_t* out = plane + static_cast<ptrdiff_t>(y) * stride;
    for (int x = 0; x < image.width; ++x) {
      for (int c = 0; c < 3; ++c) *out++ = image.pixel(x, y)[c];
      if (with_alpha) *out++ = static_cast<uint8_t>(x < image.width / 2 ? 0 : 255);
    }
  }
}

}  // namespace

Bytes make_heic(const Image& image, bool with_alpha) {
  const std::unique_ptr<heif_context, void (*)(heif_context*)> context(heif_context_alloc(), heif_context_free);
  heif_encoder* encoder = nullptr;
  if (heif_context_get_encoder_for_format(context.get(), heif_compression_HEVC, &encoder).code != heif_error_Ok) return {};
  const std::unique_ptr<heif_encoder, void (*)(heif_encoder*)> owned_encoder(encoder, heif_encoder_release);
  heif_encoder_set_lossy_quality(encoder, 95);

  heif_image* picture = nullptr;
  const heif_chroma chroma = with_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
  if (heif_image_create(image.width, image.height, heif_colorspace_RGB, chroma, &picture).code != heif_error_Ok) return {};
  const std::unique_ptr<heif_image, void (*)(const heif_image*)> owned_picture(picture, heif_image_release);
  if (heif_image_add_plane(picture, heif_channel_interleaved, image.width, image.height, 8).code != heif_error_Ok) return {};
  fill(picture, image, with_alpha);

  heif_image_handle* handle = nullptr;
  if (heif_context_encode_image(context.get(), picture, encoder, nullptr, &handle).code != heif_error_Ok) return {};
  heif_image_handle_release(handle);
  Bytes bytes;
  heif_writer writer{1, collect};
  if (heif_context_write(context.get(), &writer, &bytes).code != heif_error_Ok) return {};
  return bytes;
}

}  // namespace pointmap::fixtures
