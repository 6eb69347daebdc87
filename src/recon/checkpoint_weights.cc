#include "recon/checkpoint_weights.h"

#include "base/error.h"

namespace pointmap {

std::optional<Shape> CheckpointWeights::shape_of(const std::string& name, const Shape&) {
  const SafetensorsEntry* entry = checkpoint_.find(name);
  return entry == nullptr ? std::nullopt : std::optional(entry->shape);
}

TensorView CheckpointWeights::load(const std::string& name, const Shape&) {
  const SafetensorsEntry* entry = checkpoint_.find(name);
  if (entry == nullptr) throw Error{kInternal, "tensor '" + name + "' was found and is gone"};
  if (entry->dtype != DType::kF32 && entry->dtype != DType::kF16 && entry->dtype != DType::kBF16) {
    throw Error{kUnsupported, "tensor '" + name + "' is " + std::string(dtype_name(entry->dtype)) + ", want F32, F16 or BF16"};
  }
  return checkpoint_.view(*entry);
}

void CheckpointWeights::release(const std::string& name) {
  if (const SafetensorsEntry* entry = checkpoint_.find(name)) checkpoint_.drop_pages(*entry);
}

std::vector<std::string> CheckpointWeights::names() const {
  std::vector<std::string> names;
  names.reserve(checkpoint_.entries().size());
  for (const SafetensorsEntry& entry : checkpoint_.entries()) names.push_back(entry.name);
  return names;
}

}  // namespace pointmap
