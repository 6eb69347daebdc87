// The pixels of a PNG inflated by libdeflate, in a third of zlib's time. libspng speaks to zlib alone, so it is handed the same file with
// its pixels stored: it stays the only one that knows what a PNG means, and the only judge of files that are odd or broken. Private to this
// folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pointmap::codec {

// As the header says it, without interlacing.
struct PngRows {
  uint64_t height = 0;
  uint64_t row_bytes = 0;
  size_t pixel_bytes = 1;  // rounded up
};

// `png` again with the image data stored and every row of filter type 0, and all else as it was. Nothing for a file that is better read as
// it is: with more than 64 MiB of pixels, or in any way not as expected, down to a checksum. What is returned needs no check of its chunks'
// checksums: critical ones were compared here.
std::optional<std::vector<std::byte>> unpack_png(std::span<const std::byte> png, const PngRows& rows);

}  // namespace pointmap::codec
