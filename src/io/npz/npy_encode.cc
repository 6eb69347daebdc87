#include "io/npz/npy_encode.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "io/npz/npy_header.h"

namespace pointmap {

std::vector<std::byte> encode_npy(DType dtype, const Shape& shape, std::span<const std::byte> elements) {
  const size_t wanted = checked_mul(static_cast<size_t>(shape.num_elements()), dtype_bytes(dtype));
  POINTMAP_CHECK(elements.size() == wanted, "array of shape " + shape.to_string() + " wants " + std::to_string(wanted) + " bytes, got " +
                                                std::to_string(elements.size()));
  const std::string header = make_npy_header(dtype, shape);
  std::vector<std::byte> content(header.size() + elements.size());
  std::memcpy(content.data(), header.data(), header.size());
  std::ranges::copy(elements, content.begin() + static_cast<std::ptrdiff_t>(header.size()));
  return content;
}

}  // namespace pointmap
