// HEIC, the photos of recent phones, through libheif. Rotation and cropping stated in the container are applied by libheif, and the EXIF
// orientation beside them is ignored, as the HEIF standard says.
#include <libheif/heif.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "io/image/codecs.h"

namespace pointmap::codec {
namespace {

template <typename T, void (*release)(T*)>
struct Releaser {
  void operator()(T* object) const { release(object); }
};
using Context = std::unique_ptr<heif_context, Releaser<heif_context, heif_context_free>>;
struct HandleReleaser {
  void operator()(const heif_image_handle* handle) const { heif_image_handle_release(handle); }
};
struct ImageReleaser {
  void operator()(const heif_image* image) const { heif_image_release(image); }
};

void check(const heif_error& error, const Source& source) {
  if (error.code == heif_error_Ok) return;
  ErrorCode code = kCorruptData;
  if (error.code == heif_error_Unsupported_filetype || error.code == heif_error_Unsupported_feature) code = kUnsupported;
  if (error.code == heif_error_Memory_allocation_error || error.subcode == heif_suberror_Security_limit_exceeded) code = kLimitExceeded;
  throw Error{code, source.name + ": broken or unsupported HEIC: " + (error.message != nullptr ? error.message : "no reason given")};
}

// Rows of the decoded picture are padded; ours are not.
void copy_rows(const heif_image* image, const Source& source, Picture& picture) {
  int stride = 0;
  const uint8_t* rows = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
  const int width = heif_image_get_width(image, heif_channel_interleaved);
  const int height = heif_image_get_height(image, heif_channel_interleaved);
  if (rows == nullptr || width != picture.width || height != picture.height) {
    throw Error{kCorruptData, source.name + ": broken HEIC: decoded to " + std::to_string(width) + " x " + std::to_string(height) +
                                  ", the header says " + std::to_string(picture.width) + " x " + std::to_string(picture.height)};
  }
  const size_t row_bytes = static_cast<size_t>(width) * static_cast<size_t>(picture.channels);
  for (int y = 0; y < height; ++y) {
    std::copy_n(rows + static_cast<ptrdiff_t>(y) * stride, row_bytes, picture.samples.data() + static_cast<size_t>(y) * row_bytes);
  }
}

}  // namespace

Picture decode_heif(const Source& source) {
  const Context context(heif_context_alloc());
  check(heif_context_read_from_memory_without_copy(context.get(), source.bytes.data(), source.bytes.size(), nullptr), source);
  heif_image_handle* primary = nullptr;
  check(heif_context_get_primary_image_handle(context.get(), &primary), source);
  const std::unique_ptr<const heif_image_handle, HandleReleaser> handle(primary);

  const auto width = static_cast<uint64_t>(std::max(0, heif_image_handle_get_width(handle.get())));
  const auto height = static_cast<uint64_t>(std::max(0, heif_image_handle_get_height(handle.get())));
  check_size(source, width, height);
  const bool has_alpha = heif_image_handle_has_alpha_channel(handle.get()) != 0;

  heif_image* decoded = nullptr;
  check(heif_decode_image(handle.get(), &decoded, heif_colorspace_RGB,
                          has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB, nullptr),
        source);
  const std::unique_ptr<heif_image, ImageReleaser> image(decoded);
  // Instead of strict_decoding, which leaks the half-decoded picture when it refuses (libheif 1.15): warnings are our errors.
  heif_error warning{};
  if (heif_image_get_decoding_warnings(image.get(), 0, &warning, 1) > 0) check(warning, source);
  Picture picture = blank_picture(width, height, has_alpha ? 4 : 3);
  copy_rows(image.get(), source, picture);
  return picture;
}

}  // namespace pointmap::codec
