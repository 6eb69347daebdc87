// From the name of a model to a network with its weights packed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/progress.h"
#include "io/safetensors/checkpoint.h"
#include "kernels/ops.h"
#include "models/dust3r/dust3r.h"
#include "models/vggt/vggt.h"
#include "nn/weight_map.h"
#include "pointmap/pointmap.h"

namespace pointmap {

// Which family of networks, and its sizes.
using ModelConfig = std::variant<Dust3rConfig, VggtConfig>;

std::string_view family_name(const ModelConfig& config);  // "dust3r", "vggt"

// A model that was found: what it is, and how what it holds compares with what the network wants. No weight has been read.
struct ModelInspection {
  ModelInfo info;
  ModelConfig config;
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
  const ModelConfig& config() const { return inspection_.config; }
  int64_t num_parameters() const { return inspection_.weights.num_parameters; }
  // Reads, packs and gives back every tensor. Network: the one of config()'s family, Dust3r or Vggt. Throws Error{kCancelled} between
  // tensors, std::bad_variant_access for another family.
  template <typename Network>
  std::unique_ptr<Network> load(Ops& ops, const Progress& progress) const;

 private:
  explicit OpenedModel(ModelInspection inspection) : inspection_(std::move(inspection)) {}
  ModelInspection inspection_;
};

extern template std::unique_ptr<Dust3r> OpenedModel::load(Ops& ops, const Progress& progress) const;
extern template std::unique_ptr<Vggt> OpenedModel::load(Ops& ops, const Progress& progress) const;

}  // namespace pointmap
