// An 8-bit RGB picture in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pointmap {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgb;  // [height, width, 3], row-major

  const uint8_t* pixel(int x, int y) const {
    return rgb.data() + (static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) * 3;
  }
};

}  // namespace pointmap
