// Turning stored pixels upright. Private to this folder.
#pragma once

#include "io/image/image.h"

namespace pointmap {

// Applies EXIF orientation 1..8: 2 mirror left-right, 3 half turn, 4 mirror top-bottom, 5 transpose, 6 quarter turn clockwise,
// 7 transverse, 8 quarter turn counter-clockwise. geometry/view_transform.h is the inverse for positions.
Image apply_orientation(Image stored, int exif_orientation);

}  // namespace pointmap
