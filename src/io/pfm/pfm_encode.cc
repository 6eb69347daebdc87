#include "io/pfm/pfm_encode.h"

#include <bit>
#include <cstring>
#include <string>

#include "base/check.h"

namespace pointmap {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

std::vector<std::byte> encode_pfm(std::span<const float> grey, int width, int height) {
  POINTMAP_CHECK(width > 0 && height > 0 && grey.size() == checked_mul(static_cast<size_t>(width), static_cast<size_t>(height)),
                 "PFM of " + std::to_string(width) + "x" + std::to_string(height) + ": got " + std::to_string(grey.size()) + " numbers");
  const std::string header = "Pf\n" + std::to_string(width) + " " + std::to_string(height) + "\n-1.0\n";
  const size_t row_bytes = static_cast<size_t>(width) * sizeof(float);
  std::vector<std::byte> pfm(header.size() + grey.size_bytes());
  std::memcpy(pfm.data(), header.data(), header.size());
  std::byte* out = pfm.data() + header.size();
  for (auto row = static_cast<size_t>(height); row-- > 0; out += row_bytes) {
    std::memcpy(out, &grey[row * static_cast<size_t>(width)], row_bytes);
  }
  return pfm;
}

}  // namespace pointmap
