// What each codec file gives decode.cc. Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pointmap::codec {

struct Source {
  std::span<const std::byte> bytes;
  const std::string& name;
  uint64_t max_pixels;

  const unsigned char* data() const { return reinterpret_cast<const unsigned char*>(bytes.data()); }
};

// Pixels as stored, not yet oriented.
struct Picture {
  int width = 0;
  int height = 0;
  int channels = 3;              // 3 = RGB, 4 = RGBA with alpha not premultiplied
  std::vector<uint8_t> samples;  // [height, width, channels]
  int exif_orientation = 1;
};

// Both sides positive and the product within the source's limit, else Error{kCorruptData} or Error{kLimitExceeded}. To be called as
// soon as the header is known, before anything of that size is allocated.
void check_size(const Source& source, uint64_t width, uint64_t height);

// A picture with room for its samples; width and height have passed check_size.
Picture blank_picture(uint64_t width, uint64_t height, int channels);

Picture decode_jpeg(const Source& source);
Picture decode_png(const Source& source);
Picture decode_webp(const Source& source);
// Throws Error{kUnsupported} in a build without libheif (heif_missing.cc).
Picture decode_heif(const Source& source);

}  // namespace pointmap::codec
