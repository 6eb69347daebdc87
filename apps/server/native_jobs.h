// What the native routes share: the table of jobs, where results lie, and how many watch.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/server/job_table.h"
#include "apps/server/native_request.h"
#include "apps/server/result_store.h"
#include "apps/server/serving.h"

namespace pointmap::server {

class NativeJobs {
 public:
  // on_fault: see ResultStore.
  NativeJobs(Serving& serving, const std::function<void(const std::string&)>& on_fault);

  // Throws what Serving::submit throws.
  std::shared_ptr<Job> submit(NativeRequest request, const std::string& client);
  // Everything about a job; from the store when this process did not run it. Throws ApiError 404.
  nlohmann::ordered_json describe(const std::string& id) const;
  nlohmann::ordered_json describe(const Job& job, const JobStatus& status) const;
  std::shared_ptr<Job> find(const std::string& id) const { return table_.find(id); }

  // Cancels a job that is not over, forgets one that is, with its results. True: it was cancelled. Throws ApiError 404.
  bool cancel_or_remove(const std::string& id);
  void expire();

  const ResultStore& results() const { return results_; }
  // One place among those who watch, given back when the pointer goes. Throws ApiError 503 when all are taken.
  std::shared_ptr<void> take_watching_place();

 private:
  // How the result of a job is written.
  struct Delivery {
    ExportOptions files;
    std::vector<std::string> file_names;  // [photos]
    bool all_formats = false;             // NativeRequest
  };
  void deliver(Reconstruction& run, const Job& job, const Delivery& delivery);

  Serving& serving_;
  ResultStore results_;
  JobTable table_;
  std::atomic<int> num_watching_{0};
};

}  // namespace pointmap::server
