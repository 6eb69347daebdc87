// What both tests of the reference share: an Ops with its own memory, and tensors from lists of values.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/ref/ref_ops.h"

namespace pointmap {

struct RefBench {
  ThreadPool pool{2};
  Arena weights, activations;
  RefOps ops{OpsContext{pool, weights, activations}};

  Tensor tensor(const Shape& shape, const std::vector<float>& values) {
    Tensor t(activations, DType::kF32, shape);
    POINTMAP_CHECK(shape.num_elements() == static_cast<int64_t>(values.size()), "test values do not fill " + shape.to_string());
    std::copy(values.begin(), values.end(), t.data<float>());
    return t;
  }
};

inline std::vector<float> values_of(const Tensor& t) {
  return {t.data<float>(), t.data<float>() + t.shape().num_elements()};
}

}  // namespace pointmap
