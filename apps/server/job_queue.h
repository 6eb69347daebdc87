// Jobs in the order they came, no more than so many: what does not fit is refused at once instead of waiting for ever.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "apps/server/job.h"

namespace pointmap::server {

class JobQueue {
 public:
  // jobs_per_client: unfinished ones, the running one included; 0: as many as fit.
  JobQueue(size_t capacity, size_t jobs_per_client) : capacity_(capacity), jobs_per_client_(jobs_per_client) {}

  // Throws ApiError 503 "queue_full", 429 "too_many_jobs", 503 "draining" once it is closed; each with Retry-After.
  void push(std::shared_ptr<Job> job);
  // The next one; empty when the queue is closed and there is none. done() must follow for each.
  std::shared_ptr<Job> pop();
  void done();
  // A job that was cancelled gives its place to another.
  void remove(const Job& job);
  // 0 for the one that is next; empty for one that does not wait here.
  std::optional<size_t> position(const Job& job) const;

  size_t size() const;
  // Nothing is taken any more; what is in it still comes out of pop().
  void close();
  // Cancels what waits and what runs.
  void cancel_all();
  // Whether nothing waits and nothing runs.
  bool is_idle() const;
  // For Retry-After: how long a job took lately.
  void note_run_ms(double ms);

 private:
  // Under the lock.
  int retry_after_s() const;

  const size_t capacity_;
  const size_t jobs_per_client_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> waiting_;
  std::shared_ptr<Job> running_;
  bool is_closed_ = false;
  double mean_run_ms_ = 0;
};

}  // namespace pointmap::server
