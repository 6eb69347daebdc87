#include "recon/dust3r_run.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "geometry/pinhole.h"
#include "recon/pair_pose.h"
#include "recon/swapped_pass.h"

namespace pointmap {
namespace {

// [1, H, W, 4] -> [4, H, W]
std::vector<float> channels_first(TensorView raw) {
  const float* values = raw.data<float>();
  const int64_t pixels = raw.shape()[1] * raw.shape()[2];
  std::vector<float> planes(static_cast<size_t>(4 * pixels));
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t c = 0; c < 4; ++c) planes[static_cast<size_t>(c * pixels + p)] = values[p * 4 + c];
  }
  return planes;
}

SceneView scene_view(Ops& ops, RunView prepared, ViewPrediction prediction, bool keep_raw) {
  SceneView view = begin_view(std::move(prepared));
  HostPointmap map = download_pointmap(ops, std::move(prediction.pointmap));
  view.points = std::move(map.points);
  view.confidence = std::move(map.confidence);
  if (keep_raw) view.raw = channels_first(ops.download(std::move(prediction.raw)));
  return view;
}

}  // namespace

NetworkSize Dust3rRun::network_size() const {
  return {.long_side = static_cast<int>(config_.img_size), .patch = static_cast<int>(config_.patch_size)};
}

void Dust3rRun::check_options(const ReconstructOptions& options) const {
  const KnownInputs& known = options.known;
  const bool is_for_cameras =
      !known.intrinsics.empty() || known.shared_intrinsics || !known.poses.world_from_cam.empty() || known.baseline_metres;
  POINTMAP_CHECK(options.pose || !is_for_cameras, "known or shared intrinsics, known poses and a baseline are for cameras: '" +
                                                      model_.info().name + "' finds these only when asked for the pose");
}

std::array<PatchGrid, 2> Dust3rRun::grids_of(const std::vector<RunView>& views) const {
  return {grid_of(views[0], config_.patch_size), grid_of(views[1], config_.patch_size)};
}

MemoryPlan Dust3rRun::plan(const std::vector<RunView>& views, const ReconstructOptions& options) const {
  const uint64_t photo_bytes = views[0].prepared.image.rgb.size() + views[1].prepared.image.rgb.size();
  MemoryPlan plan = plan_dust3r(config_, model_.num_parameters(), grids_of(views), photo_bytes);
  plan.activations_bytes += features_.bytes();  // of earlier pictures
  // The pass with the views exchanged runs in the memory of the first, which is free by then.
  if (options.pose) plan.other_bytes += pair_pose_bytes(photo_bytes / 3);
  return plan;
}

void Dust3rRun::run(Ops& ops, std::vector<RunView> views, const ReconstructOptions& options, StageLog& log, Reconstruction& result) {
  const Progress& progress = options.progress;
  RunReport& report = result.report;
  const uint64_t num_encoded_before = features_.num_encoded();
  const PairFeatures pair = {
      .features = features_.encode_pair(*network_, ops, {&views[0].prepared.image, &views[1].prepared.image}, progress),
      .grids = grids_of(views)};
  report.num_encoded = static_cast<int>(features_.num_encoded() - num_encoded_before);
  log.done("encoder");
  std::array<DecodedView, 2> decoded = network_->decode(ops, pair.features, pair.grids, progress);
  log.done("decoder");
  KnownLenses lenses{.network = {}, .shared = options.known.shared_intrinsics};
  for (size_t v = 0; v < 2; ++v) {
    const RunView& view = views[v];
    if (view.known.intrinsics) lenses.network[v] = network_intrinsics(*view.known.intrinsics, view.prepared.transform);
    progress.step("head", static_cast<int>(v), 2);
    ViewPrediction prediction = network_->head(ops, v, pair.features[v], decoded[v]);
    result.scene.views.push_back(scene_view(ops, std::move(views[v]), std::move(prediction), options.keep_raw));
    log.done(v == 0 ? "head_1" : "head_2");
  }
  if (!options.pose) return;
  decoded = {};  // makes room
  const PoseMode pose_mode = options.pose_mode.value_or(default_pose_mode(model_.info()));
  const SwappedPass swapped = run_swapped_pass(*network_, ops, pair, needs_fourth_map(pose_mode), progress);
  log.done("swapped_pass");
  report.pose = solve_pair_pose(result.scene, swapped, pose_mode, lenses);
  if (!report.pose->reason.empty()) report.notes.push_back("pose: " + report.pose->reason);
  for (const std::string& note : report.pose->notes) report.notes.push_back("pose: " + note);
  log.done("pose");
}

}  // namespace pointmap
