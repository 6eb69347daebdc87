// A model and everything it runs on, for one reconstruction after another.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/make_ops.h"
#include "pointmap/pointmap.h"
#include "recon/family_run.h"
#include "recon/model_loader.h"
#include "tensor/arena.h"

namespace pointmap {

class Session {
 public:
  Session(const std::string& model, const LoadOptions& options);

  const ModelInfo& model() const { return model_.info(); }
  void load(const Progress& progress);
  Reconstruction reconstruct(const std::vector<Photo>& photos, const ReconstructOptions& options);

 private:
  // Photos that could be read, and a sentence about each that could not.
  struct Prepared {
    std::vector<RunView> views;
    std::vector<std::string> faults;  // one for each photo, in their order; empty for one that is in `views`
    // What all threads together spent.
    double decode_ms = 0;
    double prepare_ms = 0;
  };
  Prepared prepare(const std::vector<Photo>& photos, Preset preset, const ReconstructOptions& options);
  // After the pictures have the size that they will keep.
  void take_masks(std::vector<RunView>& views, const std::vector<Photo>& masks, const DecodeOptions& decode_options);
  void check_count(size_t num_photos, const std::string& what) const;
  void describe_run(const ReconstructOptions& options, Reconstruction& result) const;

  LoadOptions options_;
  OpenedModel model_;
  // Torn down from the bottom up: tensors go before their arenas, ops before the pool.
  ThreadPool pool_;
  Arena weights_;
  Arena activations_;
  std::unique_ptr<Ops> ops_;
  std::unique_ptr<FamilyRun> family_;
  bool loaded_ = false;
};

}  // namespace pointmap
