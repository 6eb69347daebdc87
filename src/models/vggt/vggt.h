// The VGGT network: frames in; a camera for each, and depth and points for each of its pixels, out.
#pragma once

#include <span>

#include "base/progress.h"
#include "models/vggt/aggregator.h"
#include "models/vggt/camera_head.h"
#include "models/vggt/config.h"
#include "models/vggt/dense_head.h"

namespace pointmap {

// What the dense heads say of one frame, in the network's pixels and in units of a scale that nobody knows. Confidence is above 1.
struct FrameMaps {
  Tensor depth;              // [H, W], along the z axis of the frame's own camera, positive
  Tensor depth_conf;         // [H, W]
  Tensor world_points;       // [H, W, 3], in the camera frame of frame 0 (x right, y down, z forward)
  Tensor world_points_conf;  // [H, W]
};

class Vggt {
 public:
  // Throws Error{kUnsupported} for sizes that make no network. Whether all weights were there is for the caller of
  // WeightMap::report to ask. The tensors of the track head are not asked for.
  Vggt(const WeightScope& w, const VggtConfig& config);

  // The parts of a forward pass. Memory for the maps of one frame is large: take them away before asking for the next frame's.
  //
  // images [1, H, W, 3] in [0, 1], all of one shape, sides multiples of 14. At least one. The first is the frame of reference; the
  // others may come in any order: the results come in that order, bit for bit the same.
  Aggregated aggregate(Ops& ops, std::span<const TensorView> images, const Progress& progress = {}) const;
  // -> pose encodings [S, 9]: see pose_encoding.h
  Tensor camera(Ops& ops, const Aggregated& aggregated, const Progress& progress = {}) const;
  // frame: 0 to S - 1
  FrameMaps dense(Ops& ops, const Aggregated& aggregated, int64_t frame, const Progress& progress = {}) const;

  PatchGrid grid_of(TensorView image) const { return {image.shape()[1] / config_.patch_size, image.shape()[2] / config_.patch_size}; }
  const VggtConfig& config() const { return config_; }

 private:
  VggtConfig config_;
  Aggregator aggregator;
  CameraHead camera_head;
  DenseHead depth_head;
  DenseHead point_head;
};

}  // namespace pointmap
