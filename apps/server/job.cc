#include "apps/server/job.h"

#include <utility>

namespace pointmap::server {

namespace {

double ms_between(Job::Clock::time_point from, Job::Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

}  // namespace

std::string_view job_state_name(JobState state) {
  switch (state) {
    case JobState::kQueued:
      return "queued";
    case JobState::kRunning:
      return "running";
    case JobState::kDone:
      return "done";
    case JobState::kFailed:
      return "failed";
    case JobState::kCancelled:
      return "cancelled";
  }
  return "failed";
}

JobStatus Job::status() const {
  const std::lock_guard lock(mutex_);
  JobStatus status = status_;
  if (status.state == JobState::kQueued) status.queue_ms = ms_between(accepted_, Clock::now());
  if (status.state == JobState::kRunning) status.run_ms = ms_between(began_, Clock::now());
  return status;
}

bool Job::wait(Clock::time_point deadline) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [this] { return is_over(status_.state); });
}

JobStatus Job::wait_for_change(uint64_t seen, std::chrono::milliseconds timeout) const {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [this, seen] { return status_.version != seen; });
  }
  return status();
}

void Job::cancel() {
  cancel_.request();
  const std::lock_guard lock(mutex_);
  if (status_.state != JobState::kQueued) return;
  drop_pictures();  // the executor will never look at them
  become(JobState::kCancelled);
}

Reconstruction Job::take_result() {
  const std::lock_guard lock(mutex_);
  if (!result_) throw Error{kInternal, "job " + id_ + " has no result to take"};
  return *std::exchange(result_, std::nullopt);
}

bool Job::begin() {
  const std::lock_guard lock(mutex_);
  if (status_.state != JobState::kQueued) return false;
  began_ = Clock::now();
  status_.queue_ms = ms_between(accepted_, began_);
  become(JobState::kRunning);
  return true;
}

Progress Job::progress() {
  const auto on_step = [this](std::string_view stage, int done, int total) {
    const std::lock_guard lock(mutex_);
    status_.stage = stage;
    status_.stage_done = done;
    status_.stage_total = total;
    ++status_.version;
    changed_.notify_all();
  };
  return {.on_step = on_step, .cancel = &cancel_};
}

void Job::finish(Reconstruction result, const Note& note) {
  drop_pictures();
  const bool is_delivered = static_cast<bool>(request_.deliver);
  request_.deliver = {};
  const std::lock_guard lock(mutex_);
  status_.stages = result.report.stages;
  if (!is_delivered) result_ = std::move(result);
  become(JobState::kDone);
  note(status_);
}

void Job::fail(const ApiError& error, const Note& note) {
  drop_pictures();
  request_.deliver = {};
  const std::lock_guard lock(mutex_);
  status_.error = error;
  become(cancel_.requested() ? JobState::kCancelled : JobState::kFailed);
  note(status_);
}

void Job::drop_pictures() {
  request_.photos = {};
  request_.options.known.masks = {};
}

void Job::become(JobState state) {
  if (is_over(state) && status_.state == JobState::kRunning) status_.run_ms = ms_between(began_, Clock::now());
  if (state == JobState::kCancelled && status_.state == JobState::kQueued) status_.queue_ms = ms_between(accepted_, Clock::now());
  status_.state = state;
  ++status_.version;
  changed_.notify_all();
}

}  // namespace pointmap::server
