#include "tensor/tensor_view.h"

#include <algorithm>

namespace pointmap {
namespace {

const void* advance(const void* data, int64_t num_elements, DType dtype) {
  return static_cast<const std::byte*>(data) + static_cast<size_t>(num_elements) * dtype_bytes(dtype);
}

std::string range_text(int64_t begin, int64_t end, const Shape& shape) {
  return "slice [" + std::to_string(begin) + ", " + std::to_string(end) + ") of " + shape.to_string();
}

}  // namespace

TensorView TensorView::slice_last(int64_t begin, int64_t end) const {
  POINTMAP_CHECK(0 <= begin && begin <= end && end <= shape_[-1], range_text(begin, end, shape_));
  TensorView view = *this;
  view.data_ = advance(data_, begin, dtype_);
  view.shape_ = shape_.with_last(end - begin);
  return view;
}

TensorView TensorView::slice_first(int64_t begin, int64_t end) const {
  POINTMAP_CHECK(shape_.rank() >= 2 && 0 <= begin && begin <= end && end <= shape_[0], range_text(begin, end, shape_));
  const int64_t rows_per_entry = shape_[0] == 0 ? 0 : num_rows() / shape_[0];
  std::array<int64_t, Shape::kMaxRank> dims{};
  std::copy(shape_.dims().begin(), shape_.dims().end(), dims.begin());
  dims[0] = end - begin;
  TensorView view = *this;
  view.data_ = advance(data_, begin * rows_per_entry * row_stride_, dtype_);
  view.shape_ = Shape(std::span<const int64_t>(dims.data(), shape_.rank()));
  return view;
}

TensorView TensorView::reshape(const Shape& shape) const {
  POINTMAP_CHECK(is_contiguous(), "only a contiguous view can be reshaped, got a slice of rows " + shape_.to_string());
  POINTMAP_CHECK(shape.num_elements() == shape_.num_elements(), "cannot reshape " + shape_.to_string() + " to " + shape.to_string());
  return TensorView(data_, dtype_, shape);
}

}  // namespace pointmap
