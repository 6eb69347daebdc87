// The transform is public, and the same inside as outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pointmap/camera.h"
#include "pointmap/view_transform.h"  // IWYU pragma: export

namespace pointmap {

// EXIF orientation taken back: whole pixels go to whole pixels.
Pixel stored_from_oriented(const ViewTransform& view, Pixel oriented);

// From the camera of the photo as a person sees it to that of its pixels as stored: a turn about the axis of the lens, whose rotation
// mirrors where EXIF does.
RigidTransform stored_from_oriented_cam(const ViewTransform& view);
// Whether EXIF mirrors the photo (orientations 2, 4, 5, 7): no pose of its stored pixels is one of what a person sees.
bool is_stored_mirrored(const ViewTransform& view);

// Which pixels of the network's picture show the photo: [H, W], 0 in the padding.
std::vector<uint8_t> photo_mask(const ViewTransform& view);

}  // namespace pointmap
