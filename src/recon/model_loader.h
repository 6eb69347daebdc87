// From the name of a model to a network with its weights packed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/progress.h"
#include "io/safetensors/checkpoint.h"
#include "kernels/ops.h"
#include "models/dust3r/dust3r.h"
#include "nn/weight_map.h"
#include "pointmap/pointmap.h"

namespace pointmap {

// A model that was found: what it is, and how what it holds compares with what the network wants. No weight has been read.
struct ModelInspection {
  ModelInfo info;
  Dust3rConfig config;
  WeightReport weights;
  std::optional<Checkpoint> checkpoint;  // empty for synthetic models
};

// Finds the model and compares names and shapes; does not throw for tensors that are missing or extra (weights tells). Throws
// Error{kNotFound, kUnsupported, kCorruptData, ...} when it is not there, or not a model of ours.
ModelInspection inspect(const std::string& name);

// A model whose tensors are all there.
class OpenedModel {
 public:
  // Throws what inspect() throws, and Error{kCorruptData} listing what is missing or extra.
  static OpenedModel open(const std::string& name);

  const ModelInfo& info() const { return inspection_.info; }
  const Dust3rConfig& config() const { return inspection_.config; }
  int64_t num_parameters() const { return inspection_.weights.num_parameters; }
  // Reads, packs and gives back every tensor. Throws Error{kCancelled} between tensors.
  std::unique_ptr<Dust3r> load(Ops& ops, const Progress& progress) const;

 private:
  explicit OpenedModel(ModelInspection inspection) : inspection_(std::move(inspection)) {}
  ModelInspection inspection_;
};

}  // namespace pointmap
