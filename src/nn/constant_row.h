// Numbers that are part of a network but of no checkpoint, as a tensor that ops take.
#pragma once

#include <initializer_list>
#include <vector>

#include "kernels/ops.h"

namespace pointmap {

inline Tensor constant_row(Ops& ops, const std::vector<float>& values) {
  return ops.upload(TensorView(values.data(), DType::kF32, {static_cast<int64_t>(values.size())}));
}
// Rounded once.
inline Tensor constant_row(Ops& ops, std::initializer_list<double> values) {
  return constant_row(ops, std::vector<float>(values.begin(), values.end()));
}

}  // namespace pointmap
