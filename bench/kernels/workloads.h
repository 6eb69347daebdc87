// The operations that are measured: inputs, weights and one function to call.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/ops.h"
#include "yardsticks.h"

namespace pointmap::bench {

// An Ops with its own threads and memory.
class Bench {
 public:
  explicit Bench(size_t num_threads);

  Ops& ops() { return *ops_; }
  Tensor normal(const Shape& shape);  // seeded

 private:
  ThreadPool pool_;
  Arena weights_, activations_;
  std::unique_ptr<Ops> ops_;
};

struct Workload {
  std::string name;
  double flops = 0;
  std::function<void()> run;
};

// Products alone: no bias, no activation.
Workload product(Bench& bench, const GemmShape& shape);
Workload product_of(const Yardstick& yardstick, Bench& bench, const GemmShape& shape);
// qkv, proj, fc1, fc2 of `num_blocks` transformer blocks with bias, GELU and residual: each weight is read once per call.
Workload transformer_linears(Bench& bench, int64_t tokens, int64_t dim, int64_t num_blocks);
// size x size pixels, 3 x 3 or 1 x 1 kernel, output of the same size.
Workload convolution(Bench& bench, int64_t size, int64_t in_channels, int64_t out_channels, int64_t kernel);
Workload patch_embedding(Bench& bench, int64_t size);  // 16 x 16 kernel, stride 16, 3 to 1024 channels
Workload transposed_convolution(Bench& bench, int64_t size, int64_t channels, int64_t stride);
Workload attention(Bench& bench, int64_t tokens, int64_t num_heads);

}  // namespace pointmap::bench
