#include "recon/session.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/cpu_info.h"
#include "base/process_memory.h"
#include "base/stopwatch.h"

namespace pointmap {
namespace {

size_t thread_count(const LoadOptions& options) {
  POINTMAP_CHECK(options.num_threads >= 0 && options.num_threads <= 1024,
                 "number of threads is " + std::to_string(options.num_threads) + ", want 0 (all) to 1024");
  return static_cast<size_t>(options.num_threads > 0 ? options.num_threads : read_cpu_info().available_cores);
}

// [1, H, W, 3] in [-1, 1]
Tensor network_input(const Image& image, Arena& arena) {
  Tensor input(arena, DType::kF32, {1, image.height, image.width, 3});
  normalize_rgb(image, input.data<float>());
  return input;
}

std::vector<float> to_vector(TensorView host) {
  const float* values = host.data<float>();
  return {values, values + host.shape().num_elements()};
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
  view.points = to_vector(ops.download(std::move(prediction.pointmap.points)));
  view.confidence = to_vector(ops.download(std::move(prediction.pointmap.confidence)));
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
    views[i] = prepare_view(decoded, preset, photo.name);
  });
  return views;
}

MemoryPlan Session::plan_memory(const std::vector<PreparedView>& views) const {
  const int64_t patch = model_.config().patch_size;
  const auto grid = [&](size_t i) { return PatchGrid{views[i].image.height / patch, views[i].image.width / patch}; };
  const uint64_t photo_bytes = views[0].image.rgb.size() + views[1].image.rgb.size();
  return plan_dust3r(model_.config(), model_.num_parameters(), {grid(0), grid(1)}, photo_bytes);
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
  const MemoryPlan plan = plan_memory(views);
  report.predicted_bytes = plan.total_bytes();
  const uint64_t free_bytes = read_available_memory_bytes() + read_process_memory().resident_bytes;
  require_memory(plan, options_.memory_limit_bytes != 0 ? options_.memory_limit_bytes : free_bytes);
  stage_done("prepare");

  load(progress);
  stage_done("load");

  const std::array<Tensor, 2> images = {network_input(views[0].image, activations_), network_input(views[1].image, activations_)};
  const std::array<Tensor, 2> features = network_->encode(*ops_, images[0], images[1], progress);
  stage_done("encoder");
  const std::array<PatchGrid, 2> grids = {network_->grid_of(images[0]), network_->grid_of(images[1])};
  const std::array<DecodedView, 2> decoded = network_->decode(*ops_, {features[0], features[1]}, grids, progress);
  stage_done("decoder");
  for (size_t v = 0; v < 2; ++v) {
    progress.step("head", static_cast<int>(v), 2);
    ViewPrediction prediction = network_->head(*ops_, v, features[v], decoded[v]);
    for (const std::string& note : views[v].notes) report.notes.push_back(photos[v].name + ": " + note);
    result.scene.views.push_back(scene_view(*ops_, photos[v].name, std::move(views[v]), std::move(prediction), options.keep_raw));
    stage_done(v == 0 ? "head_1" : "head_2");
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
