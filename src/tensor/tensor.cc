#include "tensor/tensor.h"

#include <utility>

namespace pointmap {

Tensor::Tensor(Arena& arena, DType dtype, const Shape& shape) : arena_(&arena), dtype_(dtype), shape_(shape) {
  data_ = arena.allocate(checked_mul(static_cast<size_t>(shape.num_elements()), dtype_bytes(dtype)));
}

Tensor::~Tensor() {
  if (arena_ != nullptr) arena_->release(data_);
}

Tensor::Tensor(Tensor&& other) noexcept {
  *this = std::move(other);
}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  if (arena_ != nullptr) arena_->release(data_);
  arena_ = std::exchange(other.arena_, nullptr);
  data_ = std::exchange(other.data_, nullptr);
  dtype_ = other.dtype_;
  shape_ = std::exchange(other.shape_, Shape());
  return *this;
}

Tensor Tensor::reshaped(const Shape& shape) && {
  POINTMAP_CHECK(shape.num_elements() == shape_.num_elements(), "cannot reshape " + shape_.to_string() + " to " + shape.to_string());
  shape_ = shape;
  return std::move(*this);
}

}  // namespace pointmap
