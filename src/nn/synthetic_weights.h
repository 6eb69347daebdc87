// Weights that are a function of their names, so that anyone can rebuild the models of the golden data without a file.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "nn/weight_map.h"
#include "tensor/arena.h"

namespace pointmap {

// The value of flat index i of a tensor is base + amp * v(i), float32, with v(i) uniform in (-1, 1) from splitmix64 of
// FNV-1a-64(name) + i; base and amp follow from the name and the shape (tests/golden/README.md has the table).
struct SyntheticRule {
  uint64_t seed = 0;
  float base = 0;
  float amp = 0;
};

SyntheticRule synthetic_rule(std::string_view name, const Shape& shape);
float synthetic_value(const SyntheticRule& rule, uint64_t index);

// Has every tensor, of any shape; elements are generated in parallel when loaded.
class SyntheticWeights : public WeightSource {
 public:
  // Both outlive the source.
  SyntheticWeights(ThreadPool& pool, Arena& arena) : pool_(pool), arena_(arena) {}

  std::optional<Shape> shape_of(const std::string&, const Shape& wanted) override { return wanted; }
  TensorView load(const std::string& name, const Shape& shape) override;
  void release(const std::string& name) override { loaded_.erase(name); }
  std::vector<std::string> names() const override { return {}; }

 private:
  ThreadPool& pool_;
  Arena& arena_;
  std::map<std::string, Tensor> loaded_;
};

}  // namespace pointmap
