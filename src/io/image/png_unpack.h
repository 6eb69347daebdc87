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

// `png` again with the image data stored, and all else as it was. Nothing for a file that is better read as it is: with more than
// 64 MiB of pixels, or in any way not as expected, down to a checksum. What is returned needs no check of its chunks' checksums: critical
// ones were compared here. `unpacked_bytes`: of the image data, filter bytes included.
std::optional<std::vector<std::byte>> unpack_png(std::span<const std::byte> png, uint64_t unpacked_bytes);

}  // namespace pointmap::codec
