// One golden run of VGGT.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "golden_run.h"
#include "kernels/make_ops.h"
#include "models/vggt/vggt.h"

namespace pointmap {

// A model with the name-seeded weights, and what it runs on.
class GoldenVggt {
 public:
  GoldenVggt(const VggtConfig& config, Device device);

  Arena& arena() { return activations_; }
  // Runs the frames, images [1, H, W, 3] in [0, 1], and judges every stage: see GoldenJudge.
  void run(const std::string& name, const GoldenFile& golden, std::span<const TensorView> images);

 private:
  ThreadPool pool_;
  Arena weights_;
  Arena activations_;
  std::unique_ptr<Ops> ops_;
  std::unique_ptr<Vggt> model_;
};

// Gathers what the probes show into the files' arrays. There, all frames are in one array, in the caller's order; here the aggregator
// and the camera head have them in an order of their own, and stages that run frame by frame are shown once per frame.
class FrameCollector {
 public:
  // order: see frame_order.h
  FrameCollector(GoldenJudge& judge, const GoldenFile& golden, std::vector<size_t> order)
      : judge_(judge), golden_(golden), order_(std::move(order)) {}
  void see(std::string_view stage, TensorView value);

 private:
  // All frames of a stage, frame after frame, as the file has them.
  void judge(std::string_view stage, const std::vector<float>& values) const;

  GoldenJudge& judge_;
  const GoldenFile& golden_;
  std::vector<size_t> order_;
  std::map<std::string, std::vector<float>, std::less<>> parts_;
};

}  // namespace pointmap
