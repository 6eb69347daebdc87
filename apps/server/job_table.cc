#include "apps/server/job_table.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pointmap::server {

void JobTable::add(std::shared_ptr<Job> job) {
  const std::lock_guard lock(mutex_);
  const std::string id = job->id();
  jobs_[id] = {std::move(job), Job::Clock::now()};
}

std::shared_ptr<Job> JobTable::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second.job;
}

void JobTable::remove(const std::string& id) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(id);
}

void JobTable::expire(Job::Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<Job::Clock::time_point, std::string>> over;
  for (const auto& [id, entry] : jobs_) {
    if (is_over(entry.job->status().state)) over.emplace_back(entry.since, id);
  }
  std::sort(over.begin(), over.end());
  for (size_t i = 0; i < over.size(); ++i) {
    if (now - over[i].first >= ttl_ || over.size() - i > max_jobs_) jobs_.erase(over[i].second);
  }
}

}  // namespace pointmap::server
