// WebP through libwebp: lossy, lossless, with alpha; still pictures only. libwebpdemux finds the EXIF chunk.
#include <webp/decode.h>
#include <webp/demux.h>

#include <memory>

#include "base/error.h"
#include "io/image/codecs.h"
#include "io/image/exif.h"

namespace pointmap::codec {
namespace {

void check(VP8StatusCode status, const Source& source) {
  switch (status) {
    case VP8_STATUS_OK:
      return;
    case VP8_STATUS_OUT_OF_MEMORY:
      throw Error{kLimitExceeded, source.name + ": not enough memory to decode"};
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      throw Error{kUnsupported, source.name + ": WebP with a feature that libwebp does not read"};
    case VP8_STATUS_NOT_ENOUGH_DATA:
      throw Error{kCorruptData, source.name + ": truncated WebP"};
    default:
      throw Error{kCorruptData, source.name + ": broken WebP"};
  }
}

int orientation_of(const Source& source) {
  const WebPData data{source.data(), source.bytes.size()};
  const std::unique_ptr<WebPDemuxer, void (*)(WebPDemuxer*)> demuxer(WebPDemux(&data), WebPDemuxDelete);
  // The container said how long it is; libwebp itself would be content with the picture's chunk.
  if (demuxer == nullptr) throw Error{kCorruptData, source.name + ": broken or truncated WebP container"};
  WebPChunkIterator chunk{};
  int orientation = 1;
  if (WebPDemuxGetChunk(demuxer.get(), "EXIF", 1, &chunk) != 0) {
    orientation = exif_orientation({reinterpret_cast<const std::byte*>(chunk.chunk.bytes), chunk.chunk.size});
    WebPDemuxReleaseChunkIterator(&chunk);
  }
  return orientation;
}

}  // namespace

Picture decode_webp(const Source& source) {
  WebPBitstreamFeatures features{};
  check(WebPGetFeatures(source.data(), source.bytes.size(), &features), source);
  if (features.has_animation != 0) throw Error{kUnsupported, source.name + ": an animated WebP; still pictures are read"};
  const auto width = static_cast<uint64_t>(features.width);
  const auto height = static_cast<uint64_t>(features.height);
  check_size(source, width, height);
  const int channels = features.has_alpha != 0 ? 4 : 3;
  Picture picture = blank_picture(width, height, channels);
  picture.exif_orientation = orientation_of(source);
  const int stride = picture.width * channels;  // WebP sides are at most 16384
  auto* const decode_into = channels == 4 ? WebPDecodeRGBAInto : WebPDecodeRGBInto;
  if (decode_into(source.data(), source.bytes.size(), picture.samples.data(), picture.samples.size(), stride) == nullptr) {
    throw Error{kCorruptData, source.name + ": broken or truncated WebP"};
  }
  return picture;
}

}  // namespace pointmap::codec
