// Any number of photos through VGGT: cameras, depth and points of all of them in one pass.
#pragma once

#include "models/vggt/pose_encoding.h"
#include "recon/family_run.h"

namespace pointmap {

class VggtRun : public FamilyRun {
 public:
  explicit VggtRun(const OpenedModel& model) : model_(model), config_(std::get<VggtConfig>(model.config())) {}

  // The upper bound is one of sense; memory ends much earlier.
  ViewCount view_count() const override { return {.min = 1, .max = 10'000}; }
  void check_options(const ReconstructOptions& options) const override;
  NetworkSize network_size() const override;
  bool wants_one_size() const override { return true; }
  MemoryPlan plan(const std::vector<RunView>& views, const ReconstructOptions& options) const override;
  void load(Ops& ops, const Progress& progress) override { network_ = model_.load<Vggt>(ops, progress); }
  void run(Ops& ops, std::vector<RunView> views, const ReconstructOptions& options, StageLog& log, Reconstruction& result) override;

 private:
  const OpenedModel& model_;
  VggtConfig config_;
  std::unique_ptr<Vggt> network_;  // null until loaded
};

// The camera that a pose encoding stands for, of a view with this transform. The world stays the network's: the first camera is not
// moved to the identity, near which it is.
Camera camera_of(const PoseEncoding& encoding, const ViewTransform& transform);

}  // namespace pointmap
