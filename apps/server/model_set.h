// The models of this server and the Reconstructors that run them. Names and facts may be read by any thread; loading and running is for
// the executor's thread alone.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "apps/server/job.h"
#include "apps/server/server_options.h"
#include "pointmap/pointmap.h"

namespace pointmap::server {

// What a request must know of a model.
struct ServedModel {
  std::string name;
  ModelInfo info;
  bool is_vggt() const { return info.family == "vggt"; }
  // The preset behind the seeds' word "pad".
  std::string pad_preset() const { return is_vggt() ? "pad518" : "pad512"; }
};

// Index of the model called `name`; 0 for "". Throws ApiError 422 for one that is not served.
size_t find_model(const std::vector<ServedModel>& models, const std::string& name);

class ModelSet {
 public:
  // Finds the models and reads their headers. Throws Error when one is not there, or when two have one name.
  explicit ModelSet(const ServerOptions& options);

  const std::vector<ServedModel>& models() const { return models_; }
  // Of the machine, once a model has run here; empty before.
  struct Machine {
    std::string device, cpu;
    int num_threads = 0;
  };
  Machine machine() const;

  // Loads the weights of all, and runs each once on a picture of our own: the first request is then as quick as the next.
  void load(const Progress& progress);
  Reconstruction run(const JobRequest& request, const Progress& progress);

 private:
  void warm_up(size_t index, const Progress& progress);
  void note_machine(const RunReport& report);

  const bool warm_up_;
  std::vector<ServedModel> models_;
  std::vector<Reconstructor> reconstructors_;
  mutable std::mutex mutex_;
  Machine machine_;
};

}  // namespace pointmap::server
