// A model and everything it runs on, for one reconstruction after another.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/make_ops.h"
#include "pointmap/pointmap.h"
#include "recon/feature_cache.h"
#include "recon/memory_plan.h"
#include "recon/model_loader.h"
#include "recon/preprocess.h"
#include "tensor/arena.h"

namespace pointmap {

class Session {
 public:
  Session(const std::string& model, const LoadOptions& options);

  const ModelInfo& model() const { return model_.info(); }
  void load(const Progress& progress);
  Reconstruction reconstruct(const std::vector<Photo>& photos, const ReconstructOptions& options);

 private:
  std::vector<PreparedView> prepare(const std::vector<Photo>& photos, Preset preset, const ReconstructOptions& options);
  NetworkSize network_size() const;
  std::array<PatchGrid, 2> grids_of(const std::vector<PreparedView>& views) const;
  MemoryPlan plan_memory(const std::vector<PreparedView>& views, bool with_pose) const;

  LoadOptions options_;
  OpenedModel model_;
  // Torn down from the bottom up: tensors go before their arenas, ops before the pool.
  ThreadPool pool_;
  Arena weights_;
  Arena activations_;
  std::unique_ptr<Ops> ops_;
  std::unique_ptr<Dust3r> network_;  // null until loaded
  FeatureCache features_;
};

}  // namespace pointmap
