// WebP fixtures through libwebp's encoder; the containers through libwebpmux.
#include <webp/encode.h>
#include <webp/mux.h>

#include <cstdlib>
#include <memory>

#include "io/image/fixtures_testing.h"

namespace pointmap::fixtures {
namespace {

Bytes taken(const uint8_t* data, size_t count) {
  if (data == nullptr || count == 0) std::abort();  // a fixture that cannot be made is a bug of the test
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  return {begin, begin + count};
}

WebPData borrowed(const Bytes& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

using Mux = std::unique_ptr<WebPMux, void (*)(WebPMux*)>;

Bytes assembled(WebPMux* mux) {
  WebPData data{};
  if (WebPMuxAssemble(mux, &data) != WEBP_MUX_OK) std::abort();
  Bytes bytes = taken(data.bytes, data.size);
  WebPDataClear(&data);
  return bytes;
}

}  // namespace

Bytes make_webp(const std::vector<uint8_t>& samples, int width, int height, int channels, bool lossless) {
  WebPConfig config;
  WebPPicture picture;
  if (WebPConfigInit(&config) == 0 || WebPPictureInit(&picture) == 0) std::abort();
  config.lossless = lossless ? 1 : 0;
  config.quality = 100;
  config.exact = 1;  // keep the colours below transparency: the tests look at them
  picture.use_argb = lossless ? 1 : 0;
  picture.width = width;
  picture.height = height;
  WebPMemoryWriter writer;
  WebPMemoryWriterInit(&writer);
  picture.writer = WebPMemoryWrite;
  picture.custom_ptr = &writer;
  auto* const import = channels == 4 ? WebPPictureImportRGBA : WebPPictureImportRGB;
  if (import(&picture, samples.data(), width * channels) == 0 || WebPEncode(&config, &picture) == 0) std::abort();
  WebPPictureFree(&picture);
  Bytes bytes = taken(writer.mem, writer.size);
  WebPMemoryWriterClear(&writer);
  return bytes;
}

Bytes webp_with_exif(const Bytes& webp, const Bytes& exif) {
  const WebPData picture = borrowed(webp);
  const WebPData chunk = borrowed(exif);
  const Mux mux(WebPMuxCreate(&picture, 1), WebPMuxDelete);
  if (mux == nullptr || WebPMuxSetChunk(mux.get(), "EXIF", &chunk, 1) != WEBP_MUX_OK) std::abort();
  return assembled(mux.get());
}

Bytes make_animated_webp(const Image& frame) {
  const Bytes still = make_webp(frame.rgb, frame.width, frame.height, 3, true);
  const Mux mux(WebPMuxNew(), WebPMuxDelete);
  WebPMuxFrameInfo info{};
  info.bitstream = borrowed(still);
  info.duration = 100;
  info.id = WEBP_CHUNK_ANMF;
  for (int i = 0; i < 2; ++i) {
    if (WebPMuxPushFrame(mux.get(), &info, 1) != WEBP_MUX_OK) std::abort();
  }
  const WebPMuxAnimParams animation{};
  if (WebPMuxSetAnimationParams(mux.get(), &animation) != WEBP_MUX_OK) std::abort();
  return assembled(mux.get());
}

}  // namespace pointmap::fixtures
