#include "recon/session.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/cpu_info.h"
#include "base/process_memory.h"
#include "recon/known_inputs.h"
#include "recon/known_masks.h"

namespace pointmap {
namespace {

size_t thread_count(const LoadOptions& options) {
  POINTMAP_CHECK(options.num_threads >= 0 && options.num_threads <= 1024,
                 "number of threads is " + std::to_string(options.num_threads) + ", want 0 (all) to 1024");
  return static_cast<size_t>(options.num_threads > 0 ? options.num_threads : read_cpu_info().available_cores);
}

// Puts a view without arrays in the place of each photo that could not be read.
void insert_skipped(const std::vector<Photo>& photos, const std::vector<std::string>& faults, std::vector<SceneView>& views) {
  for (size_t i = 0; i < faults.size(); ++i) {
    if (faults[i].empty()) continue;
    SceneView skipped;
    skipped.source = photos[i].name;
    skipped.status = "skipped";
    skipped.reason = faults[i];
    views.insert(views.begin() + static_cast<std::ptrdiff_t>(i), std::move(skipped));
  }
}

}  // namespace

Session::Session(const std::string& model, const LoadOptions& options)
    : options_(options), model_(OpenedModel::open(model)), pool_(thread_count(options)) {
  POINTMAP_CHECK(options.precision == "fp32", "precision '" + options.precision + "' is not known; there is fp32");
  ops_ = make_ops(Device::kCpu, {pool_, weights_, activations_});
  family_ = make_family_run(model_);
}

void Session::load(const Progress& progress) {
  if (loaded_) return;
  family_->load(*ops_, progress);
  loaded_ = true;
  activations_.trim();  // what loading used does not fit what running needs
}

Session::Prepared Session::prepare(const std::vector<Photo>& photos, Preset preset, const ReconstructOptions& options) {
  const NetworkSize size = family_->network_size();
  std::vector<PreparedView> pictures(photos.size());
  Prepared result{.views = {}, .faults = std::vector<std::string>(photos.size())};
  DecodeOptions decode_options = decode_options_for(preset);
  decode_options.max_pixels = options.max_pixels;
  std::vector<double> decode_ms(photos.size()), prepare_ms(photos.size());
  const auto prepare_photo = [&](size_t i) {
    const Photo& photo = photos[i];
    Stopwatch watch;
    const DecodedImage decoded =
        photo.bytes.empty() ? read_image(photo.name, decode_options) : decode_image(photo.bytes, photo.name, decode_options);
    decode_ms[i] = watch.lap_ms();
    PreparedView picture = prepare_view(decoded, preset, photo.name, size);
    if (std::string note = size_note(preset, picture.image, size); !note.empty()) picture.notes.push_back(std::move(note));
    prepare_ms[i] = watch.lap_ms();
    return picture;
  };
  pool_.parallel_for(photos.size(), [&](size_t i, size_t) {
    if (options.progress.cancel != nullptr) options.progress.cancel->throw_if_requested();
    try {
      pictures[i] = prepare_photo(i);
    } catch (const Error& error) {
      if (!options.skip_bad) throw;
      result.faults[i] = error.what();
    }
  });
  for (size_t i = 0; i < photos.size(); ++i) {
    if (!result.faults[i].empty()) continue;
    result.views.push_back(
        {.source = photos[i].name, .prepared = std::move(pictures[i]), .photo = i, .known = known_view(options.known, i)});
  }
  if (family_->wants_one_size()) {
    std::vector<PreparedView*> all;
    for (RunView& view : result.views) all.push_back(&view.prepared);
    pad_to_one_size(all);
  }
  result.decode_ms = std::accumulate(decode_ms.begin(), decode_ms.end(), 0.0);
  result.prepare_ms = std::accumulate(prepare_ms.begin(), prepare_ms.end(), 0.0);
  if (!options.known.masks.empty()) take_masks(result.views, options.known.masks, decode_options);
  return result;
}

void Session::take_masks(std::vector<RunView>& views, const std::vector<Photo>& masks, const DecodeOptions& decode_options) {
  pool_.parallel_for(views.size(), [&](size_t v, size_t) {
    RunView& view = views[v];
    const Photo& mask = masks[view.photo];
    if (mask.name.empty() && mask.bytes.empty()) return;
    NetworkMask read = read_mask(mask, view.source, view.prepared.transform, decode_options);
    view.known.mask = std::move(read.values);
    if (!read.note.empty()) view.prepared.notes.push_back(std::move(read.note));
  });
}

void Session::check_count(size_t num_photos, const std::string& what) const {
  const auto [min, max] = family_->view_count();
  if (num_photos >= min && num_photos <= max) return;
  const std::string wanted = min == max ? std::to_string(min) : std::to_string(min) + " to " + std::to_string(max);
  throw Error{kInvalidArgument, "'" + model().name + "' takes " + wanted + " photos, got " + std::to_string(num_photos) + what};
}

void Session::describe_run(const ReconstructOptions& options, Reconstruction& result) const {
  result.scene.model = model().name;
  result.scene.model_hash = model().fingerprint;
  RunReport& report = result.report;
  report.device = ops_->name();
  report.cpu = read_cpu_info().model_name;
  report.num_threads = static_cast<int>(pool_.num_threads());
  report.precision = options_.precision;
  report.preset = options.preset;
  report.weights_bytes = weights_.bytes_in_use();
  report.activations_bytes = activations_.peak_bytes_in_use();
  report.peak_resident_bytes = read_process_memory().peak_resident_bytes;
  report.notes.insert(report.notes.end(), model().notes.begin(), model().notes.end());
}

Reconstruction Session::reconstruct(const std::vector<Photo>& photos, const ReconstructOptions& options) {
  check_count(photos.size(), "");
  check_known_inputs(options.known, photos);
  family_->check_options(options);
  const Preset preset = preset_from_name(options.preset);
  require_preset_fits(preset, family_->network_size());
  Reconstruction result;
  RunReport& report = result.report;
  StageLog log(report.stages);

  options.progress.step("prepare", 0, 1);
  Prepared prepared = prepare(photos, preset, options);
  for (const std::string& fault : prepared.faults) {
    if (!fault.empty()) report.notes.push_back("skipped: " + fault);
  }
  if (prepared.views.size() < photos.size()) {
    check_count(prepared.views.size(), " that can be read, of " + std::to_string(photos.size()) + "; " + report.notes.front());
  }
  for (const RunView& view : prepared.views) {
    for (const std::string& note : view.prepared.notes) report.notes.push_back(view.source + ": " + note);
  }
  check_known_views(prepared.views, options.known, report.notes);
  const MemoryPlan plan = family_->plan(prepared.views, options);
  report.predicted_bytes = plan.total_bytes();
  const uint64_t free_bytes = read_available_memory_bytes() + read_process_memory().resident_bytes;
  require_memory(plan, options_.memory_limit_bytes != 0 ? options_.memory_limit_bytes : free_bytes);
  log.done_in_turns({"decode", prepared.decode_ms}, {"prepare", prepared.prepare_ms});

  load(options.progress);
  log.done("load");

  family_->run(*ops_, std::move(prepared.views), options, log, result);
  insert_skipped(photos, prepared.faults, result.scene.views);
  apply_known_inputs(result.scene, options.known, report);
  options.progress.step("done", 1, 1);
  describe_run(options, result);
  return result;
}

}  // namespace pointmap
