// A borrowed look at elements somebody else owns. Never outlives the owner.
#pragma once

#include <cstddef>
#include <string>

#include "base/check.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace pointmap {

// Elements are contiguous but for one freedom: consecutive rows (all dimensions but the last, flattened) may lie row_stride
// elements apart, so that a slice of channels, such as K inside packed QKV, is a view too.
class TensorView {
 public:
  TensorView() = default;
  // data must hold shape.num_elements() elements of dtype.
  TensorView(const void* data, DType dtype, const Shape& shape)
      : data_(data), dtype_(dtype), shape_(shape), row_stride_(shape.rank() > 0 ? shape[-1] : 1) {}

  bool empty() const { return data_ == nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t row_stride() const { return row_stride_; }
  int64_t num_rows() const { return shape_.rank() == 0 || shape_[-1] == 0 ? 1 : shape_.num_elements() / shape_[-1]; }
  bool is_contiguous() const { return shape_.rank() == 0 || row_stride_ == shape_[-1]; }
  size_t num_bytes() const { return static_cast<size_t>(shape_.num_elements()) * dtype_bytes(dtype_); }

  const void* raw() const { return data_; }
  // Start of the elements; T must be the view's type.
  template <typename T>
  const T* data() const {
    POINTMAP_CHECK(dtype_of<T>() == dtype_,
                   "tensor is " + std::string(dtype_name(dtype_)) + ", asked for " + std::string(dtype_name(dtype_of<T>())));
    return static_cast<const T*>(data_);
  }

  // Channels [begin, end) of the last dimension.
  TensorView slice_last(int64_t begin, int64_t end) const;
  // Entries [begin, end) of the first dimension.
  TensorView slice_first(int64_t begin, int64_t end) const;
  // The same elements under another shape; the view must be contiguous.
  TensorView reshape(const Shape& shape) const;

 private:
  const void* data_ = nullptr;
  DType dtype_ = DType::kF32;
  Shape shape_;
  int64_t row_stride_ = 0;
};

}  // namespace pointmap
