#include "recon/vggt_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "geometry/pinhole.h"
#include "recon/host_values.h"
#include "recon/known_inputs.h"

namespace pointmap {
namespace {

// All pictures as [1, H, W, 3] in [0, 1].
std::vector<Tensor> network_input(const std::vector<RunView>& views, Arena& arena) {
  std::vector<Tensor> images;
  for (const RunView& view : views) {
    const Image& image = view.prepared.image;
    images.emplace_back(arena, DType::kF32, Shape{1, image.height, image.width, 3});
    rgb_to_unit_range(image, images.back().data<float>());
  }
  return images;
}

void take_maps(Ops& ops, FrameMaps maps, SceneView& view) {
  view.depth = download_values(ops, std::move(maps.depth));
  view.depth_confidence = download_values(ops, std::move(maps.depth_conf));
  view.points = download_values(ops, std::move(maps.world_points));
  view.confidence = download_values(ops, std::move(maps.world_points_conf));
}

// Untrained weights, and pictures unlike all that the network has seen, can say this.
std::string doubt_about(const Camera& camera) {
  const Intrinsics& k = camera.network;
  for (const double x : camera.world_from_cam.rotation) {
    if (!std::isfinite(x)) return "the network's rotation is none";
  }
  if (!std::isfinite(k.fx) || !std::isfinite(k.fy)) return "the network's field of view is 0, so the focal length is infinite";
  return "";
}

}  // namespace

Camera camera_of(const PoseEncoding& encoding, const ViewTransform& transform) {
  const EncodedCamera decoded = decode_pose(encoding, transform.network_width, transform.network_height);
  return {.world_from_cam = inverse(decoded.cam_from_world),
          .network = decoded.intrinsics,
          .original = original_intrinsics(decoded.intrinsics, transform)};
}

void VggtRun::check_options(const ReconstructOptions& options) const {
  if (options.keep_raw) {
    throw Error{kUnsupported, "values before activation (raw) are kept for DUSt3R only; '" + model_.info().name + "' is a VGGT"};
  }
}

NetworkSize VggtRun::network_size() const {
  return {.long_side = static_cast<int>(config_.image_size), .patch = static_cast<int>(config_.patch_size), .fit = PatchFit::kScale};
}

MemoryPlan VggtRun::plan(const std::vector<RunView>& views, const ReconstructOptions&) const {
  return plan_vggt(config_, model_.num_parameters(), static_cast<int64_t>(views.size()), grid_of(views[0], config_.patch_size));
}

void VggtRun::run(Ops& ops, std::vector<RunView> views, const ReconstructOptions& options, StageLog& log, Reconstruction& result) {
  const Progress& progress = options.progress;
  Aggregated aggregated;
  {
    const std::vector<Tensor> images = network_input(views, ops.context().activations);
    aggregated = network_->aggregate(ops, std::vector<TensorView>(images.begin(), images.end()), progress);
  }
  result.report.num_encoded = static_cast<int>(views.size());
  ops.context().activations.trim();  // of its blocks, few fit what the heads need
  log.done("aggregator");
  const std::vector<float> encodings = download_values(ops, network_->camera(ops, aggregated, progress));
  log.done("camera_head");
  std::vector<KnownView> known;
  for (size_t s = 0; s < views.size(); ++s) {
    known.push_back(views[s].known);
    const auto frame = static_cast<int64_t>(s);
    SceneView view = begin_view(std::move(views[s]));
    const PoseEncoding encoding = pose_encoding_of(encodings, frame);
    std::ranges::transform(encoding, std::back_inserter(view.pose_encoding), [](double x) { return static_cast<float>(x); });
    view.camera = camera_of(encoding, view.transform);
    if (const std::string doubt = doubt_about(*view.camera); !doubt.empty()) result.report.notes.push_back(view.source + ": " + doubt);
    take_maps(ops, network_->dense(ops, aggregated, frame, progress), view);
    result.scene.views.push_back(std::move(view));
  }
  ops.context().activations.trim();  // the next run begins with the aggregator again
  result.scene.world = WorldFrame::kNetwork;
  replace_lenses(result.scene, known, options.known.shared_intrinsics, result.report.notes);
  log.done("dense_heads");
}

}  // namespace pointmap
