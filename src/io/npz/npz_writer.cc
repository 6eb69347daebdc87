#include "io/npz/npz_writer.h"

#include <vector>

#include "base/check.h"
#include "io/npz/npy_header.h"

namespace pointmap {

namespace {

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

void NpzWriter::add(std::string_view name, const TensorView& array) {
  POINTMAP_CHECK(!array.empty() || array.num_bytes() == 0, "array '" + std::string(name) + "' has no elements behind it");
  const auto* start = static_cast<const std::byte*>(array.raw());
  if (array.is_contiguous()) {
    add(name, array.dtype(), array.shape(), {start, array.num_bytes()});
    return;
  }
  std::vector<std::byte> elements;
  elements.reserve(array.num_bytes());
  const size_t row_bytes = static_cast<size_t>(array.shape()[-1]) * dtype_bytes(array.dtype());
  const size_t stride_bytes = static_cast<size_t>(array.row_stride()) * dtype_bytes(array.dtype());
  for (size_t row = 0; row < static_cast<size_t>(array.num_rows()); ++row) {
    elements.insert(elements.end(), start + row * stride_bytes, start + row * stride_bytes + row_bytes);
  }
  add(name, array.dtype(), array.shape(), elements);
}

void NpzWriter::add(std::string_view name, DType dtype, const Shape& shape, std::span<const std::byte> elements) {
  const size_t wanted = checked_mul(static_cast<size_t>(shape.num_elements()), dtype_bytes(dtype));
  POINTMAP_CHECK(elements.size() == wanted, "array '" + std::string(name) + "' of shape " + shape.to_string() + " wants " +
                                                std::to_string(wanted) + " bytes, got " + std::to_string(elements.size()));
  POINTMAP_CHECK(!name.empty() && name.size() <= 1024, "array name of " + std::to_string(name.size()) + " bytes, wanted 1 to 1024");
  zip_.add(std::string(name) + ".npy", make_npy_header(dtype, shape), as_text(elements));
}

void NpzWriter::add_text(std::string_view name, std::string_view text) {
  add(name, DType::kU8, Shape{static_cast<int64_t>(text.size())}, std::as_bytes(std::span(text)));
}

}  // namespace pointmap
