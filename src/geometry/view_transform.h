// The transform is public, and the same inside as outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pointmap/view_transform.h"  // IWYU pragma: export

namespace pointmap {

// EXIF orientation taken back: whole pixels go to whole pixels.
Pixel stored_from_oriented(const ViewTransform& view, Pixel oriented);

// Which pixels of the network's picture show the photo: [H, W], 0 in the padding.
std::vector<uint8_t> photo_mask(const ViewTransform& view);

}  // namespace pointmap
