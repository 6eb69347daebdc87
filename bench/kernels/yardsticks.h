// Other people's matrix products, to compare with. C [M, N] = A [M, K] W^T, W [N, K], all row-major.
#pragma once

#include <cstdint>
#include <string>

namespace pointmap::bench {

struct GemmShape {
  int64_t rows = 0;     // M
  int64_t columns = 0;  // N
  int64_t depth = 0;    // K
  double flops() const { return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(depth); }
};

struct Yardstick {
  std::string name;
  std::string missing;  // why it cannot run here; empty when it can
  void (*set_threads)(int num_threads) = nullptr;
  void (*multiply)(const GemmShape& shape, const float* a, const float* w, float* c) = nullptr;
};

Yardstick openblas_yardstick();
Yardstick onednn_yardstick();

}  // namespace pointmap::bench
