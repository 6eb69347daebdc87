// Every orientation is a walk through the stored pixels: a start, a step per oriented column and a step per oriented row.
#include "io/image/orient.h"

#include <cstddef>
#include <utility>

namespace pointmap {
namespace {

struct Walk {
  ptrdiff_t start;  // in pixels of the stored picture
  ptrdiff_t column_step;
  ptrdiff_t row_step;
};

Walk walk_of(int exif_orientation, ptrdiff_t width, ptrdiff_t height) {
  const ptrdiff_t last_column = width - 1;
  const ptrdiff_t last_row = (height - 1) * width;
  switch (exif_orientation) {
    case 2:
      return {last_column, -1, width};
    case 3:
      return {last_row + last_column, -1, -width};
    case 4:
      return {last_row, 1, -width};
    case 5:
      return {0, width, 1};
    case 6:
      return {last_row, -width, 1};
    case 7:
      return {last_row + last_column, -width, -1};
    case 8:
      return {last_column, width, -1};
    default:
      return {0, 1, width};
  }
}

}  // namespace

Image apply_orientation(Image stored, int exif_orientation) {
  if (exif_orientation < 2 || exif_orientation > 8) return stored;
  const bool swapped = exif_orientation >= 5;
  Image upright;
  upright.width = swapped ? stored.height : stored.width;
  upright.height = swapped ? stored.width : stored.height;
  upright.rgb.resize(stored.rgb.size());
  const Walk walk = walk_of(exif_orientation, stored.width, stored.height);
  uint8_t* out = upright.rgb.data();
  for (int y = 0; y < upright.height; ++y) {
    for (int x = 0; x < upright.width; ++x) {
      const uint8_t* in = stored.rgb.data() + 3 * (walk.start + x * walk.column_step + y * walk.row_step);
      for (int c = 0; c < 3; ++c) *out++ = in[c];
    }
  }
  return upright;
}

}  // namespace pointmap
