// Two photos through DUSt3R: encoder, decoder and heads, and with a pose the pass with the views exchanged.
#pragma once

#include "recon/family_run.h"
#include "recon/feature_cache.h"

namespace pointmap {

class Dust3rRun : public FamilyRun {
 public:
  explicit Dust3rRun(const OpenedModel& model) : model_(model), config_(std::get<Dust3rConfig>(model.config())) {}

  ViewCount view_count() const override { return {.min = 2, .max = 2}; }
  void check_options(const ReconstructOptions& options) const override;
  NetworkSize network_size() const override;
  bool wants_one_size() const override { return false; }
  MemoryPlan plan(const std::vector<RunView>& views, const ReconstructOptions& options) const override;
  void load(Ops& ops, const Progress& progress) override { network_ = model_.load<Dust3r>(ops, progress); }
  void run(Ops& ops, std::vector<RunView> views, const ReconstructOptions& options, StageLog& log, Reconstruction& result) override;

 private:
  std::array<PatchGrid, 2> grids_of(const std::vector<RunView>& views) const;

  const OpenedModel& model_;
  Dust3rConfig config_;
  std::unique_ptr<Dust3r> network_;  // null until loaded
  FeatureCache features_;
};

}  // namespace pointmap
