// Undoing PNG's row filters (PNG specification, third edition, section 9). Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pointmap::codec {

// rows: [height, 1 + row_bytes], each a filter type and filtered bytes; becomes type 0 and the bytes themselves. `pixel_bytes`: of a whole
// pixel, at least 1. False, with rows half done, when there is a type that does not exist.
bool undo_png_filters(std::span<uint8_t> rows, size_t row_bytes, size_t pixel_bytes);

}  // namespace pointmap::codec
