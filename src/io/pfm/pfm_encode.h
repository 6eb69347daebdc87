// Portable FloatMap bytes from one channel of floats: the plainest format for depth that stereo and evaluation tools read.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pointmap {

// `grey` is [height, width], top row first, as everywhere here; PFM's rows go from the bottom to the top, which is taken care of.
// Little-endian, said by the header's scale -1. Throws Error{kInvalidArgument} when the size does not fit.
std::vector<std::byte> encode_pfm(std::span<const float> grey, int width, int height);

}  // namespace pointmap
