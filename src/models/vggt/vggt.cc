#include "models/vggt/vggt.h"

#include <string>
#include <utility>
#include <vector>

namespace pointmap {
namespace {

const VggtConfig& validated(const VggtConfig& config) {
  config.validate();
  return config;
}

// The same elements without the leading dimension of one image, and without a last one of one channel.
Tensor without_image(Tensor map) {
  const Shape& s = map.shape();
  return s.rank() == 3 || s[3] == 1 ? std::move(map).reshaped({s[1], s[2]}) : std::move(map).reshaped({s[1], s[2], s[3]});
}

}  // namespace

Vggt::Vggt(const WeightScope& w, const VggtConfig& config)
    : config_(validated(config)),
      aggregator(w["aggregator"], config),
      camera_head(w["camera_head"], config),
      depth_head(w["depth_head"], config, 2, "depth_head"),
      point_head(w["point_head"], config, 4, "point_head") {
  w.ignore("track_head.");  // follows points from frame to frame: of no use here
}

Aggregated Vggt::aggregate(Ops& ops, std::span<const TensorView> images, const Progress& progress) const {
  return aggregator.forward(ops, images, progress);
}

Tensor Vggt::camera(Ops& ops, const Aggregated& aggregated, const Progress& progress) const {
  // In the order of the aggregator, for the same reason; the poses come out in the caller's.
  std::vector<Tensor> tokens(aggregated.places.size());
  for (size_t s = 0; s < tokens.size(); ++s) {
    tokens[static_cast<size_t>(aggregated.places[s])] = aggregated.camera_token(ops, static_cast<int64_t>(s));
  }
  const Tensor poses = camera_head.forward(ops, ops.concat_first(std::vector<TensorView>(tokens.begin(), tokens.end())), progress);
  std::vector<TensorView> by_frame;
  by_frame.reserve(aggregated.places.size());
  for (const int64_t place : aggregated.places) by_frame.push_back(poses.view().slice_first(place, place + 1));
  return ops.concat_first(by_frame);
}

FrameMaps Vggt::dense(Ops& ops, const Aggregated& aggregated, int64_t frame, const Progress& progress) const {
  POINTMAP_CHECK(frame >= 0 && frame < aggregated.num_frames,
                 "frame " + std::to_string(frame) + " of " + std::to_string(aggregated.num_frames));
  const auto step = [&](int64_t head) {
    progress.step("dense heads", static_cast<int>(2 * frame + head), static_cast<int>(2 * aggregated.num_frames));
  };
  step(0);
  Depthmap depth = ops.activate_depth_exp(depth_head.forward(ops, aggregated, frame));
  ops.probe(depth.depth, "depth");
  ops.probe(depth.confidence, "depth_conf");
  step(1);
  Pointmap points = ops.activate_pointmap_inv_log(point_head.forward(ops, aggregated, frame));
  ops.probe(points.points, "world_points");
  ops.probe(points.confidence, "world_points_conf");
  return {.depth = without_image(std::move(depth.depth)),
          .depth_conf = without_image(std::move(depth.confidence)),
          .world_points = without_image(std::move(points.points)),
          .world_points_conf = without_image(std::move(points.confidence))};
}

}  // namespace pointmap
