#include "io/image/png_filters.h"

#include <array>
#include <vector>

namespace pointmap::codec {

namespace {

enum Filter : uint8_t { kNone, kSub, kUp, kAverage, kPaeth };

constexpr int distance(int x) {
  return x < 0 ? -x : x;
}

// Whichever of left, above and above-left is nearest to left + above - above-left. Selections, not branches: which one it is has no
// pattern.
constexpr int paeth(int left, int above, int above_left) {
  const int to_left = distance(above - above_left), to_above = distance(left - above_left),
            to_corner = distance(left + above - 2 * above_left);
  const int nearer = to_above <= to_corner ? above : above_left;
  return (to_left <= to_above) & (to_left <= to_corner) ? left : nearer;
}

// One row of pixels of kBytes bytes. What a byte is made from comes from the pixel before it, so the bytes of a pixel are kept in registers
// and their chains run side by side.
template <size_t kBytes, typename Predict>
void undo_row(uint8_t* row, const uint8_t* above, size_t row_bytes, const Predict& predict) {
  std::array<uint8_t, kBytes> left{}, above_left{};
  for (size_t i = 0; i + kBytes <= row_bytes; i += kBytes) {
    for (size_t c = 0; c < kBytes; ++c) {
      left[c] = static_cast<uint8_t>(row[i + c] + predict(left[c], above[i + c], above_left[c]));
      above_left[c] = above[i + c];
      row[i + c] = left[c];
    }
  }
}

template <size_t kBytes>
bool undo(Filter filter, uint8_t* row, const uint8_t* above, size_t row_bytes) {
  switch (filter) {
    case kNone:
      return true;
    case kSub:
      undo_row<kBytes>(row, above, row_bytes, [](int left, int, int) { return left; });
      return true;
    case kUp:
      for (size_t i = 0; i < row_bytes; ++i) row[i] = static_cast<uint8_t>(row[i] + above[i]);
      return true;
    case kAverage:
      undo_row<kBytes>(row, above, row_bytes, [](int left, int up, int) { return (left + up) / 2; });
      return true;
    case kPaeth:
      undo_row<kBytes>(row, above, row_bytes, [](int left, int up, int up_left) { return paeth(left, up, up_left); });
      return true;
  }
  return false;
}

bool undo(Filter filter, uint8_t* row, const uint8_t* above, size_t row_bytes, size_t pixel_bytes) {
  switch (pixel_bytes) {
    case 1:
      return undo<1>(filter, row, above, row_bytes);
    case 2:
      return undo<2>(filter, row, above, row_bytes);
    case 3:
      return undo<3>(filter, row, above, row_bytes);
    case 4:
      return undo<4>(filter, row, above, row_bytes);
    case 6:
      return undo<6>(filter, row, above, row_bytes);
    case 8:
      return undo<8>(filter, row, above, row_bytes);
    default:
      return false;  // no PNG has such pixels
  }
}

}  // namespace

bool undo_png_filters(std::span<uint8_t> rows, size_t row_bytes, size_t pixel_bytes) {
  const std::vector<uint8_t> nothing(row_bytes);  // above the first row
  const uint8_t* above = nothing.data();
  for (size_t begin = 0; begin < rows.size(); begin += 1 + row_bytes) {
    uint8_t* row = rows.data() + begin + 1;
    if (!undo(static_cast<Filter>(rows[begin]), row, above, row_bytes, pixel_bytes)) return false;
    rows[begin] = kNone;
    above = row;
  }
  return true;
}

}  // namespace pointmap::codec
