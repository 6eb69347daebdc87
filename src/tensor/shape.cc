#include "tensor/shape.h"

#include <algorithm>

#include "base/check.h"

namespace pointmap {

Shape::Shape(std::span<const int64_t> dims) {
  POINTMAP_CHECK(dims.size() <= kMaxRank, "a tensor has at most 6 dimensions, got " + std::to_string(dims.size()));
  for (const int64_t dim : dims) {
    POINTMAP_CHECK(dim >= 0, "negative dimension " + std::to_string(dim));
    dims_[rank_++] = dim;
    num_elements_ = checked_mul(num_elements_, dim);
  }
}

int64_t Shape::operator[](int index) const {
  const int position = index < 0 ? index + static_cast<int>(rank_) : index;
  POINTMAP_CHECK(position >= 0 && position < static_cast<int>(rank_), "no dimension " + std::to_string(index) + " in " + to_string());
  return dims_[static_cast<size_t>(position)];
}

Shape Shape::with_last(int64_t last) const {
  POINTMAP_CHECK(rank_ > 0, "a scalar has no last dimension");
  std::array<int64_t, kMaxRank> dims = dims_;
  dims[rank_ - 1] = last;
  return Shape(std::span<const int64_t>(dims.data(), rank_));
}

Shape Shape::with_first(int64_t first) const {
  POINTMAP_CHECK(rank_ > 0, "a scalar has no first dimension");
  std::array<int64_t, kMaxRank> dims = dims_;
  dims[0] = first;
  return Shape(std::span<const int64_t>(dims.data(), rank_));
}

bool Shape::operator==(const Shape& other) const {
  return std::ranges::equal(dims(), other.dims());
}

std::string Shape::to_string() const {
  std::string text = "[";
  for (size_t i = 0; i < rank_; ++i) text += (i > 0 ? ", " : "") + std::to_string(dims_[i]);
  return text + "]";
}

}  // namespace pointmap
