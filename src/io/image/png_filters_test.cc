#include "io/image/png_filters.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

namespace pointmap::codec {
namespace {

// The specification's own words for a byte at a time: x, left a, above b, above-left c.
int predicted(int type, int a, int b, int c) {
  if (type == 1) return a;
  if (type == 2) return b;
  if (type == 3) return (a + b) / 2;
  if (type != 4) return 0;
  const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  if (pa <= pb && pa <= pc) return a;
  return pb <= pc ? b : c;
}

TEST(PngFilters, AreUndoneForPixelsOfEverySize) {
  std::mt19937 random(3);
  for (const size_t pixel_bytes : {1, 2, 3, 4, 6, 8}) {  // the first row has another filter with each
    constexpr size_t kHeight = 40;
    const size_t row_bytes = 37 * pixel_bytes, stride = 1 + row_bytes;
    std::vector<uint8_t> plain(kHeight * stride), filtered(plain.size());
    for (size_t y = 0; y < kHeight; ++y) {
      const int type = static_cast<int>((pixel_bytes + y) % 5);
      filtered[y * stride] = static_cast<uint8_t>(type);
      for (size_t i = 0; i < row_bytes; ++i) {
        const size_t at = y * stride + 1 + i;
        plain[at] = static_cast<uint8_t>(random() % 3 == 0 ? 255 : random() >> 24);
        const int a = i < pixel_bytes ? 0 : plain[at - pixel_bytes], b = y == 0 ? 0 : plain[at - stride],
                  c = y == 0 || i < pixel_bytes ? 0 : plain[at - stride - pixel_bytes];
        filtered[at] = static_cast<uint8_t>(plain[at] - predicted(type, a, b, c));
      }
    }
    ASSERT_TRUE(undo_png_filters(filtered, row_bytes, pixel_bytes));
    EXPECT_EQ(filtered, plain) << pixel_bytes << " bytes a pixel";
  }
}

TEST(PngFilters, OfNoKindAreRefused) {
  for (const int type : {5, 9, 255}) {
    std::vector<uint8_t> row = {static_cast<uint8_t>(type), 1, 2, 3};
    EXPECT_FALSE(undo_png_filters(row, 3, 3)) << type;
  }
}

}  // namespace
}  // namespace pointmap::codec
