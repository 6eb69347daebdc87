#include "apps/server/job_queue.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pointmap::server {

void JobQueue::push(std::shared_ptr<Job> job) {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) throw ApiError{503, "draining", "the server is shutting down", 10};
    if (jobs_per_client_ > 0) {
      const auto is_theirs = [&](const std::shared_ptr<Job>& other) { return other->client() == job->client(); };
      const auto theirs = std::ranges::count_if(waiting_, is_theirs) + (running_ && is_theirs(running_) ? 1 : 0);
      if (static_cast<size_t>(theirs) >= jobs_per_client_) {
        throw ApiError{429, "too_many_jobs", "you have " + std::to_string(theirs) + " unfinished jobs, no more are taken", retry_after_s()};
      }
    }
    // With nothing running a job leaves the queue at once.
    if (waiting_.size() >= capacity_ + (running_ ? 0 : 1)) {
      throw ApiError{503, "queue_full", std::to_string(waiting_.size()) + " jobs are waiting, no more are taken", retry_after_s()};
    }
    waiting_.push_back(std::move(job));
  }
  changed_.notify_one();
}

std::shared_ptr<Job> JobQueue::pop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
  if (waiting_.empty()) return nullptr;
  running_ = std::move(waiting_.front());
  waiting_.pop_front();
  return running_;
}

void JobQueue::done() {
  const std::lock_guard lock(mutex_);
  running_ = nullptr;
}

void JobQueue::remove(const Job& job) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const std::shared_ptr<Job>& other) { return other.get() == &job; });
}

std::optional<size_t> JobQueue::position(const Job& job) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(waiting_, [&](const std::shared_ptr<Job>& other) { return other.get() == &job; });
  if (found == waiting_.end()) return std::nullopt;
  return static_cast<size_t>(found - waiting_.begin());
}

size_t JobQueue::size() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void JobQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  changed_.notify_all();
}

void JobQueue::cancel_all() {
  std::deque<std::shared_ptr<Job>> jobs;
  {
    const std::lock_guard lock(mutex_);
    jobs.swap(waiting_);
    if (running_) jobs.push_back(running_);
  }
  for (const std::shared_ptr<Job>& job : jobs) job->cancel();
}

bool JobQueue::is_idle() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && !running_;
}

void JobQueue::note_run_ms(double ms) {
  const std::lock_guard lock(mutex_);
  mean_run_ms_ = mean_run_ms_ == 0 ? ms : 0.8 * mean_run_ms_ + 0.2 * ms;
}

int JobQueue::retry_after_s() const {
  // Until one more place is free, not until all are done: others retry too.
  return static_cast<int>(std::clamp(std::ceil(mean_run_ms_ / 1000), 1.0, 60.0));
}

}  // namespace pointmap::server
