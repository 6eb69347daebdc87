#include "apps/server/model_set.h"

#include <utility>

#include "pointmap/encode.h"

namespace pointmap::server {

ModelChoice parse_model_choice(const std::string& text) {
  const size_t equals = text.rfind('=');
  ModelChoice choice = equals == std::string::npos ? ModelChoice{text, text} : ModelChoice{text.substr(0, equals), text.substr(equals + 1)};
  if (choice.model.empty() || choice.name.empty()) throw Error{kInvalidArgument, "model '" + text + "', wanted MODEL or MODEL=NAME"};
  return choice;
}

size_t find_model(const std::vector<ServedModel>& models, const std::string& name) {
  if (name.empty()) return 0;
  std::string names;
  for (size_t i = 0; i < models.size(); ++i) {
    if (models[i].name == name) return i;
    names += (names.empty() ? "" : ", ") + models[i].name;
  }
  throw ApiError{422, "unknown_model", "model '" + name + "' is not served here; want one of " + names, "model"};
}

ModelSet::ModelSet(const ServerOptions& options) : warm_up_(options.warm_up) {
  for (const ModelChoice& choice : options.models) {
    for (const ServedModel& other : models_) {
      if (other.name == choice.name) throw Error{kInvalidArgument, "two models are called '" + choice.name + "'; name one with MODEL=NAME"};
    }
    reconstructors_.push_back(
        Reconstructor::open(choice.model, {.num_threads = options.num_threads, .memory_limit_bytes = options.memory_limit_bytes}));
    models_.push_back({choice.name, reconstructors_.back().model()});
  }
  if (models_.empty()) throw Error{kInvalidArgument, "no model to serve"};
}

ModelSet::Machine ModelSet::machine() const {
  const std::lock_guard lock(mutex_);
  return machine_;
}

void ModelSet::note_machine(const RunReport& report) {
  const std::lock_guard lock(mutex_);
  machine_ = {report.device, report.cpu, report.num_threads};
}

void ModelSet::load(const Progress& progress) {
  for (size_t i = 0; i < models_.size(); ++i) {
    reconstructors_[i].load(progress);
    if (warm_up_) warm_up(i, progress);
  }
}

void ModelSet::warm_up(size_t index, const Progress& progress) {
  const ServedModel& model = models_[index];
  std::vector<Photo> photos;
  for (int shift = 0; shift < (model.is_vggt() ? 1 : 2); ++shift) {
    Image image{.width = 320, .height = 240, .rgb = {}};
    image.rgb.reserve(320 * 240 * 3);
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) {
        for (int c = 0; c < 3; ++c) image.rgb.push_back(static_cast<uint8_t>(((x + 9 * shift) * (c + 2) + y * (5 - c)) & 255));
      }
    }
    const std::string png = encode_png(image);
    const auto* bytes = reinterpret_cast<const std::byte*>(png.data());
    photos.push_back({.name = "warm-up", .bytes = {bytes, bytes + png.size()}});
  }
  ReconstructOptions options{.preset = model.pad_preset(), .pose = true};
  options.progress = progress;
  note_machine(reconstructors_[index].reconstruct(photos, options).report);
}

Reconstruction ModelSet::run(const JobRequest& request, const Progress& progress) {
  ReconstructOptions options = request.options;
  options.progress = progress;
  Reconstruction result = reconstructors_.at(request.model).reconstruct(request.photos, options);
  note_machine(result.report);
  return result;
}

}  // namespace pointmap::server
