// Resizing, bit for bit as Pillow does it: the networks were trained on pictures shrunk this way, and golden data is compared exactly.
#pragma once

#include "io/image/image.h"

namespace pointmap {

enum class ResizeFilter { kBicubic /* a = -0.5, radius 2 */, kLanczos /* radius 3 */ };

// Antialiased when shrinking (the filter widens with the scale). Rounded to 8 bits after each of the two passes.
// Throws Error{kInvalidArgument} when a size is not positive, Error{kLimitExceeded} when the result cannot be addressed.
Image resize_image(const Image& source, int width, int height, ResizeFilter filter);

}  // namespace pointmap
