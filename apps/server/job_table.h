// The native jobs that clients may still ask about, found by id.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "apps/server/job.h"

namespace pointmap::server {

class JobTable {
 public:
  // Jobs that are over are kept for `ttl` after they came, `max_jobs` at most; those that are not are kept in any case, the queue bounds
  // them.
  JobTable(std::chrono::seconds ttl, size_t max_jobs) : ttl_(ttl), max_jobs_(max_jobs) {}

  void add(std::shared_ptr<Job> job);
  std::shared_ptr<Job> find(const std::string& id) const;  // null when it is not there
  void remove(const std::string& id);
  void expire(Job::Clock::time_point now);

 private:
  struct Entry {
    std::shared_ptr<Job> job;
    Job::Clock::time_point since;
  };
  const std::chrono::seconds ttl_;
  const size_t max_jobs_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> jobs_;
};

}  // namespace pointmap::server
