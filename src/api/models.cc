// The public face of inspecting and downloading models.
#include "pointmap/models.h"

#include "io/hub/fetch.h"
#include "recon/default_model.h"
#include "recon/model_loader.h"

namespace pointmap {

DefaultModel default_model() {
  return default_model_for(HubEnvironment::from_process_env());
}

ModelReport inspect_model(const std::string& model) {
  const ModelInspection inspection = inspect(model);
  ModelReport report{.info = inspection.info,
                     .tensors = {},
                     .missing = inspection.weights.missing,
                     .mismatched = inspection.weights.mismatched,
                     .unexpected = inspection.weights.unexpected,
                     .ignored = inspection.weights.ignored};
  if (!inspection.checkpoint) return report;
  for (const SafetensorsEntry& entry : inspection.checkpoint->entries()) {
    const auto dims = entry.shape.dims();
    report.tensors.push_back({.name = entry.name, .dtype = std::string(dtype_name(entry.dtype)), .shape = {dims.begin(), dims.end()}});
  }
  return report;
}

DownloadedModel download_model(const std::string& model, const DownloadOptions& options) {
  FetchOptions fetch_options{.cancel = options.cancel};
  if (options.on_progress) {
    fetch_options.on_progress = [&](const FetchProgress& p) {
      options.on_progress({.file = p.file, .done_bytes = p.done_bytes, .total_bytes = p.total_bytes});
    };
  }
  const FetchedModel fetched = fetch_model(parse_model_name(model), HubEnvironment::from_process_env(), fetch_options);
  return {.folder = fetched.model.path, .commit = fetched.model.commit, .license = fetched.model.license};
}

}  // namespace pointmap
