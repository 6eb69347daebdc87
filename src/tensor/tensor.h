// An owner of elements: movable, not copyable.
#pragma once

#include <cstddef>

#include "tensor/arena.h"
#include "tensor/tensor_view.h"

namespace pointmap {

class Tensor {
 public:
  Tensor() = default;
  // Contiguous, not cleared, from `arena`, which must outlive the tensor.
  Tensor(Arena& arena, DType dtype, const Shape& shape);
  ~Tensor();
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  bool empty() const { return data_ == nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  size_t num_bytes() const { return static_cast<size_t>(shape_.num_elements()) * dtype_bytes(dtype_); }

  TensorView view() const { return TensorView(data_, dtype_, shape_); }
  operator TensorView() const { return view(); }  // NOLINT: an owner may be looked at wherever a view is wanted

  void* raw() { return data_; }
  template <typename T>
  T* data() {
    return const_cast<T*>(view().data<T>());
  }
  template <typename T>
  const T* data() const {
    return view().data<T>();
  }

  // The same elements under another shape.
  Tensor reshaped(const Shape& shape) &&;

 private:
  Arena* arena_ = nullptr;
  void* data_ = nullptr;
  DType dtype_ = DType::kF32;
  Shape shape_;
};

}  // namespace pointmap
