// Counters and histograms for Prometheus.
#pragma once

#include <memory>
#include <string>

#include "apps/server/http_server.h"
#include "apps/server/serving.h"

namespace pointmap::server {

// Thread-safe.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  void answered(const Answered& answered);
  // report is null for a job that was not done.
  void job_over(const std::string& model, const JobStatus& status, const RunReport* report);
  void result_fault();
  // All of it as text, with what is read off the moment it is asked for.
  std::string text(Serving& serving, size_t num_results);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace pointmap::server
