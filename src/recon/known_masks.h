// From a mask as large as its photo to one of the network's picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "geometry/view_transform.h"
#include "io/image/decode.h"
#include "pointmap/known_inputs.h"

namespace pointmap {

struct NetworkMask {
  std::vector<uint8_t> values;  // [H, W] of the network's picture: 0 where the mask's nearest pixel is black, and in the padding; else 1
  std::string note;             // what the user might wonder about
};

// Reads the mask of the photo named `photo`, which became a picture with this transform. options: as the photo was read. Throws what
// decode_image throws, and Error{kInvalidArgument} naming mask and photo when their sizes do not fit or nothing of the photo is left.
NetworkMask read_mask(const Photo& mask, const std::string& photo, const ViewTransform& transform, const DecodeOptions& options);

}  // namespace pointmap
