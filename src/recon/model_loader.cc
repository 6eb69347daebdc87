#include "recon/model_loader.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "demo_model/demo_model.h"
#include "io/config/config_parser.h"
#include "io/hub/hub_cache.h"
#include "nn/synthetic_weights.h"
#include "recon/checkpoint_weights.h"
#include "recon/dust3r_config.h"
#include "recon/vggt_config.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSyntheticPrefix = "synthetic:";

struct SyntheticModel {
  std::string_view name;
  ModelConfig config;
};

std::array<SyntheticModel, 5> synthetic_models() {
  return {{{"dust3r-512-dpt", Dust3rConfig::large_512_dpt()},
           {"dust3r-tiny", Dust3rConfig::tiny(Dust3rConfig::Head::kDpt)},
           {"dust3r-tiny-linear", Dust3rConfig::tiny(Dust3rConfig::Head::kLinear)},
           {"vggt-1b", VggtConfig::vggt_1b()},
           {"vggt-tiny", VggtConfig::tiny()}}};
}

ModelConfig synthetic_config(const std::string& name) {
  std::string known;
  for (const SyntheticModel& model : synthetic_models()) {
    if (name == std::string(kSyntheticPrefix) + std::string(model.name)) return model.config;
    known += (known.empty() ? "" : ", ") + std::string(kSyntheticPrefix) + std::string(model.name);
  }
  throw Error{kNotFound, "no model '" + name + "'; there are " + known};
}

// Has the tensors of any model, all of them nominally; only for checks.
class NamesOnly : public WeightSource {
 public:
  std::optional<Shape> shape_of(const std::string&, const Shape& wanted) override { return wanted; }
  TensorView load(const std::string&, const Shape&) override { return {}; }
  void release(const std::string&) override {}
  std::vector<std::string> names() const override { return {}; }
};

// Passes a cancel request on between tensors, and progress.
class WatchedSource : public WeightSource {
 public:
  WatchedSource(WeightSource& source, const Progress& progress, size_t num_tensors)
      : source_(source), progress_(progress), num_tensors_(num_tensors) {}
  std::optional<Shape> shape_of(const std::string& name, const Shape& wanted) override { return source_.shape_of(name, wanted); }
  TensorView load(const std::string& name, const Shape& shape) override {
    progress_.step("load weights", static_cast<int>(std::min(num_loaded_, num_tensors_)), static_cast<int>(num_tensors_));
    ++num_loaded_;
    return source_.load(name, shape);
  }
  void release(const std::string& name) override { source_.release(name); }
  std::vector<std::string> names() const override { return source_.names(); }

 private:
  WeightSource& source_;
  const Progress& progress_;
  size_t num_tensors_;
  size_t num_loaded_ = 0;
};

void build(const WeightScope& scope, const Dust3rConfig& config) {
  const Dust3r network(scope, config);
}

void build(const WeightScope& scope, const VggtConfig& config) {
  const Vggt network(scope, config);
}

WeightReport check(WeightSource& source, const ModelConfig& config) {
  WeightMap map(source);
  std::visit([&](const auto& c) { build(WeightScope(map), c); }, config);
  return map.report();
}

std::string dtypes_of(const Checkpoint& checkpoint) {
  std::set<std::string> names;
  for (const SafetensorsEntry& entry : checkpoint.entries()) names.emplace(dtype_name(entry.dtype));
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : "+") + name;
  return joined;
}

ModelConfig config_of(const Checkpoint& checkpoint, const fs::path& path, std::vector<std::string>& notes) {
  if (is_vggt(checkpoint)) return vggt_config_from(checkpoint);  // whose config.json says nothing that the tensors do not
  const fs::path folder = fs::is_directory(path) ? path : path.parent_path();
  const fs::path config_path = folder / "config.json";
  if (fs::exists(config_path)) return dust3r_config_from(read_config(config_path));
  notes.push_back("no config.json beside the weights: sizes are taken from the shapes of the tensors");
  return dust3r_config_from(checkpoint);
}

// What is the same for every model that has a file: identity and the comparison of its tensors with what the network wants.
void inspect_checkpoint(ModelInspection& result) {
  result.info.dtype = dtypes_of(*result.checkpoint);
  result.info.fingerprint = result.checkpoint->fingerprint();
  CheckpointWeights source(*result.checkpoint);
  result.weights = check(source, result.config);
}

void inspect_demo(ModelInspection& result) {
  const DemoModel demo = demo_model();
  if (!demo.in_this_build()) {
    throw Error{kNotFound, "the model 'demo' is not part of this build: models/demo/model.safetensors and config.json were not there"};
  }
  result.checkpoint = Checkpoint::from_bytes(demo.weights, "demo");
  result.info.license = parse_model_name("demo").license;
  result.info.notes.push_back("demo: a small model trained on synthetic scenes only; for photographs use published weights (dust3r)");
  result.config = dust3r_config_from(parse_config(demo.config, "config.json of the model 'demo'"));
  inspect_checkpoint(result);
}

}  // namespace

std::string_view family_name(const ModelConfig& config) {
  return std::holds_alternative<Dust3rConfig>(config) ? "dust3r" : "vggt";
}

ModelInspection inspect(const std::string& name) {
  ModelInspection result;
  result.info.name = name;
  if (name.starts_with(kSyntheticPrefix)) {
    NamesOnly source;
    result.config = synthetic_config(name);
    result.weights = check(source, result.config);
    result.info.dtype = "F32";
    result.info.license = "none: the weights are made from their names";
    result.info.notes.push_back("synthetic weights: outputs show exactness and speed, not the geometry of the photos");
  } else if (const ModelName parsed = parse_model_name(name); parsed.kind == ModelName::Kind::kDemo) {
    inspect_demo(result);
  } else {
    const ResolvedModel resolved = resolve_model(parsed, HubEnvironment::from_process_env());
    result.checkpoint = Checkpoint::open(resolved.path);
    result.info.path = resolved.path.string();
    result.info.license = resolved.license.empty() ? "unknown: see where the file came from" : resolved.license;
    result.config = config_of(*result.checkpoint, resolved.path, result.info.notes);
    inspect_checkpoint(result);
  }
  result.info.family = family_name(result.config);
  result.info.num_parameters = result.weights.num_parameters;
  result.info.num_tensors = result.weights.num_tensors;
  return result;
}

OpenedModel OpenedModel::open(const std::string& name) {
  OpenedModel model(inspect(name));
  require_complete(model.inspection_.weights, name);
  return model;
}

template <typename Network>
std::unique_ptr<Network> OpenedModel::load(Ops& ops, const Progress& progress) const {
  std::unique_ptr<WeightSource> source;
  if (inspection_.checkpoint) {
    source = std::make_unique<CheckpointWeights>(*inspection_.checkpoint);
  } else {
    source = std::make_unique<SyntheticWeights>(ops.context().pool, ops.context().activations);
  }
  WatchedSource watched(*source, progress, inspection_.weights.num_tensors);
  WeightMap map(watched, ops);
  using Config = std::remove_cvref_t<decltype(std::declval<Network>().config())>;
  return std::make_unique<Network>(WeightScope(map), std::get<Config>(inspection_.config));
}

template std::unique_ptr<Dust3r> OpenedModel::load(Ops& ops, const Progress& progress) const;
template std::unique_ptr<Vggt> OpenedModel::load(Ops& ops, const Progress& progress) const;

}  // namespace pointmap
