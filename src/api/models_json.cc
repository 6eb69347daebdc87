// A model report for machines.
#include <nlohmann/json.hpp>

#include "pointmap/models.h"

namespace pointmap {

std::string to_json(const ModelReport& report) {
  using nlohmann::ordered_json;
  const ModelInfo& info = report.info;
  ordered_json tensors = ordered_json::array();
  for (const TensorInfo& t : report.tensors) tensors.push_back({{"name", t.name}, {"dtype", t.dtype}, {"shape", t.shape}});
  const ordered_json json = {{"model",
                              {{"name", info.name},
                               {"family", info.family},
                               {"path", info.path},
                               {"fingerprint", info.fingerprint},
                               {"dtype", info.dtype},
                               {"license", info.license},
                               {"parameters", info.num_parameters},
                               {"tensors_used", info.num_tensors},
                               {"notes", info.notes}}},
                             {"usable", report.usable()},
                             {"missing", report.missing},
                             {"mismatched", report.mismatched},
                             {"unexpected", report.unexpected},
                             {"ignored", report.ignored},
                             {"tensors", tensors}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace pointmap
