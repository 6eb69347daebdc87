#include "recon/session.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/cpu_info.h"
#include "base/process_memory.h"
#include "base/stopwatch.h"
#include "recon/pair_pose.h"
#include "recon/swapped_pass.h"

namespace pointmap {
namespace {

size_t thread_count(const LoadOptions& options) {
  POINTMAP_CHECK(options.num_threads >= 0 && options.num_threads <= 1024,
                 "number of threads is " + std::to_string(options.num_threads) + ", want 0 (all) to 1024");
  return static_cast<size_t>(options.num_threads > 0 ? options.num_threads : read_cpu_info().available_cores);
}

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

SceneView scene_view(Ops& ops, std::string source, PreparedView prepared, ViewPrediction prediction, bool keep_raw) {
  SceneView view;
  view.source = std::move(source);
  view.transform = prepared.transform;
  view.image = std::move(prepared.image);
  HostPointmap map = download_pointmap(ops, std::move(prediction.pointmap));
  view.points = std::move(map.points);
  view.confidence = std::move(map.confidence);
  if (keep_raw) view.raw = channels_first(ops.download(std::move(prediction.raw)));
  return view;
}

}  // namespace

Session::Session(const std::string& model, const LoadOptions& options)
    : options_(options), model_(OpenedModel::open(model)), pool_(thread_count(options)) {
  POINTMAP_CHECK(options.precision == "fp32", "precision '" + options.precision + "' is not known; there is fp32");
  ops_ = make_ops(Device::kCpu, {pool_, weights_, activations_});
}

void Session::load(const Progress& progress) {
  if (network_) return;
  network_ = model_.load(*ops_, progress);
  activations_.trim();  // what loading used does not fit what running needs
}

std::vector<PreparedView> Session::prepare(const std::vector<Photo>& photos, Preset preset, const ReconstructOptions& options) {
  std::vector<PreparedView> views(photos.size());
  DecodeOptions decode_options = decode_options_for(preset);
  decode_options.max_pixels = options.max_pixels;
  pool_.parallel_for(photos.size(), [&](size_t i, size_t) {
    const Photo& photo = photos[i];
    const DecodedImage decoded =
        photo.bytes.empty() ? read_image(photo.name, decode_options) : decode_image(photo.bytes, photo.name, decode_options);
    views[i] = prepare_view(decoded, preset, photo.name, network_size());
    if (std::string note = size_note(preset, views[i].image, network_size()); !note.empty()) views[i].notes.push_back(std::move(note));
  });
  return views;
}

NetworkSize Session::network_size() const {
  return {.long_side = static_cast<int>(model_.config().img_size), .patch = static_cast<int>(model_.config().patch_size)};
}

std::array<PatchGrid, 2> Session::grids_of(const std::vector<PreparedView>& views) const {
  const int64_t patch = model_.config().patch_size;
  const auto grid = [&](size_t i) { return PatchGrid{views[i].image.height / patch, views[i].image.width / patch}; };
  return {grid(0), grid(1)};
}

MemoryPlan Session::plan_memory(const std::vector<PreparedView>& views, bool with_pose) const {
  const uint64_t photo_bytes = views[0].image.rgb.size() + views[1].image.rgb.size();
  MemoryPlan plan = plan_dust3r(model_.config(), model_.num_parameters(), grids_of(views), photo_bytes);
  plan.activations_bytes += features_.bytes();  // of earlier pictures
  // The pass with the views exchanged runs in the memory of the first, which is free by then.
  if (with_pose) plan.other_bytes += pair_pose_bytes(photo_bytes / 3);
  return plan;
}

Reconstruction Session::reconstruct(const std::vector<Photo>& photos, const ReconstructOptions& options) {
  POINTMAP_CHECK(photos.size() == 2, "DUSt3R takes 2 photos, got " + std::to_string(photos.size()));
  const Preset preset = preset_from_name(options.preset);
  const Progress& progress = options.progress;
  Reconstruction result;
  RunReport& report = result.report;
  Stopwatch watch;
  const auto stage_done = [&](const char* stage) { report.stages.push_back({stage, watch.lap_ms()}); };

  progress.step("prepare", 0, 1);
  std::vector<PreparedView> views = prepare(photos, preset, options);
  const MemoryPlan plan = plan_memory(views, options.pose);
  report.predicted_bytes = plan.total_bytes();
  const uint64_t free_bytes = read_available_memory_bytes() + read_process_memory().resident_bytes;
  require_memory(plan, options_.memory_limit_bytes != 0 ? options_.memory_limit_bytes : free_bytes);
  stage_done("prepare");

  load(progress);
  stage_done("load");

  const uint64_t num_encoded_before = features_.num_encoded();
  const PairFeatures pair = {.features = features_.encode_pair(*network_, *ops_, {&views[0].image, &views[1].image}, progress),
                             .grids = grids_of(views)};
  report.num_encoded = static_cast<int>(features_.num_encoded() - num_encoded_before);
  stage_done("encoder");
  std::array<DecodedView, 2> decoded = network_->decode(*ops_, pair.features, pair.grids, progress);
  stage_done("decoder");
  for (size_t v = 0; v < 2; ++v) {
    progress.step("head", static_cast<int>(v), 2);
    ViewPrediction prediction = network_->head(*ops_, v, pair.features[v], decoded[v]);
    for (const std::string& note : views[v].notes) report.notes.push_back(photos[v].name + ": " + note);
    result.scene.views.push_back(scene_view(*ops_, photos[v].name, std::move(views[v]), std::move(prediction), options.keep_raw));
    stage_done(v == 0 ? "head_1" : "head_2");
  }
  if (options.pose) {
    decoded = {};  // makes room
    const PoseMode pose_mode = options.pose_mode.value_or(default_pose_mode(model()));
    const SwappedPass swapped = run_swapped_pass(*network_, *ops_, pair, needs_fourth_map(pose_mode), progress);
    stage_done("swapped_pass");
    report.pose = solve_pair_pose(result.scene, swapped, pose_mode);
    if (!report.pose->reason.empty()) report.notes.push_back("pose: " + report.pose->reason);
    for (const std::string& note : report.pose->notes) report.notes.push_back("pose: " + note);
    stage_done("pose");
  }
  progress.step("done", 1, 1);

  result.scene.model = model().name;
  result.scene.model_hash = model().fingerprint;
  report.device = ops_->name();
  report.cpu = read_cpu_info().model_name;
  report.num_threads = static_cast<int>(pool_.num_threads());
  report.precision = options_.precision;
  report.preset = options.preset;
  report.weights_bytes = weights_.bytes_in_use();
  report.activations_bytes = activations_.peak_bytes_in_use();
  report.peak_resident_bytes = read_process_memory().peak_resident_bytes;
  report.notes.insert(report.notes.end(), model().notes.begin(), model().notes.end());
  return result;
}

}  // namespace pointmap
