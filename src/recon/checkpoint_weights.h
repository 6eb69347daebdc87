// A model's weights from a checkpoint file.
#pragma once

#include "io/safetensors/checkpoint.h"
#include "nn/weight_map.h"

namespace pointmap {

class CheckpointWeights : public WeightSource {
 public:
  explicit CheckpointWeights(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  std::optional<Shape> shape_of(const std::string& name, const Shape& wanted) override;
  // Throws Error{kUnsupported} naming the tensor when it is not F32, F16 or BF16.
  TensorView load(const std::string& name, const Shape& shape) override;
  // Gives the file's pages back: the kernels have their own copy now.
  void release(const std::string& name) override;
  std::vector<std::string> names() const override;

 private:
  const Checkpoint& checkpoint_;
};

}  // namespace pointmap
