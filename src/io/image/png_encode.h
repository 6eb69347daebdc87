// PNG bytes from pixels: 8-bit colour and grey for pictures, 16-bit grey for depth maps. Writing the file is AtomicFile's work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/image/image.h"

namespace pointmap {

std::vector<std::byte> encode_png8(const Image& image);

// `samples` is [height, width, channels], channels 1 (grey) or 3 (RGB). Throws Error{kInvalidArgument} when the size does not fit.
std::vector<std::byte> encode_png8(std::span<const uint8_t> samples, int width, int height, int channels);

// `grey` is [height, width]; PNG's byte order is taken care of. Throws Error{kInvalidArgument} when the size does not fit.
std::vector<std::byte> encode_png16(std::span<const uint16_t> grey, int width, int height);

}  // namespace pointmap
