// Sizes of a tensor's dimensions, slowest first.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace pointmap {

class Shape {
 public:
  static constexpr size_t kMaxRank = 6;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
  // Throws Error{kInvalidArgument} for more than kMaxRank dimensions or a negative one, Error{kLimitExceeded} when the
  // number of elements overflows.
  explicit Shape(std::span<const int64_t> dims);

  size_t rank() const { return rank_; }
  // Negative counts from the end: shape[-1] is the fastest dimension. Out of range throws.
  int64_t operator[](int index) const;
  std::span<const int64_t> dims() const { return {dims_.data(), rank_}; }
  int64_t num_elements() const { return num_elements_; }

  // The same dimensions with the last one replaced.
  Shape with_last(int64_t last) const;
  // The same dimensions with the first one replaced.
  Shape with_first(int64_t first) const;

  bool operator==(const Shape& other) const;
  std::string to_string() const;  // "[2, 3, 4]"

 private:
  std::array<int64_t, kMaxRank> dims_{};
  size_t rank_ = 0;
  int64_t num_elements_ = 1;
};

}  // namespace pointmap
