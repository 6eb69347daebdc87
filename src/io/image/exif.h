// The one thing we want from EXIF: which way is up.
#pragma once

#include <cstddef>
#include <span>

namespace pointmap {

// `tiff` is the TIFF block inside EXIF: from JPEG's APP1 after "Exif\0\0", from PNG's eXIf or WebP's EXIF chunk as it is (a leading
// "Exif\0\0" is skipped there too). Returns 1..8; 1 when there is no orientation or the block is broken.
int exif_orientation(std::span<const std::byte> tiff);

}  // namespace pointmap
