#include "nn/linear.h"

namespace pointmap {

void Mlp::add_to(Ops& ops, TensorView x, Tensor& y) const {
  const int64_t num_rows = x.num_rows();
  const TensorView rows = x.reshape({num_rows, x.shape()[-1]});
  const int64_t num_parts = (num_rows + kMaxRows - 1) / kMaxRows;
  for (int64_t part = 0; part < num_parts; ++part) {
    const int64_t begin = num_rows * part / num_parts;
    const TensorView chunk = rows.slice_first(begin, num_rows * (part + 1) / num_parts);
    const Tensor hidden = fc1.forward(ops, chunk, {.activation = Activation::kGelu});  // [rows, ratio C]
    fc2.add_to(ops, hidden, y, begin);
  }
}

}  // namespace pointmap
