// One reconstruction from being asked for to being done, seen from both sides: threads that wait for it or watch it, and the executor
// that does it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/server/api_error.h"
#include "pointmap/pointmap.h"

namespace pointmap::server {

enum class JobState { kQueued, kRunning, kDone, kFailed, kCancelled };

std::string_view job_state_name(JobState state);  // "queued", "running", "done", "failed", "cancelled"

inline bool is_over(JobState state) {
  return state != JobState::kQueued && state != JobState::kRunning;
}

class Job;

// What is to be done.
struct JobRequest {
  size_t model = 0;  // index in ServerOptions::models
  std::vector<Photo> photos;
  ReconstructOptions options;  // without progress
  std::string client;
  // Called on the executor's thread with what came out, before the job is done; what it throws makes the job fail. Empty: the result waits
  // in the job for take_result().
  std::function<void(Reconstruction&, const Job&)> deliver = {};
};

struct JobStatus {
  JobState state = JobState::kQueued;
  uint64_t version = 0;  // goes up with every change
  std::string stage;     // while running: "encoder"
  int stage_done = 0;
  int stage_total = 0;
  double queue_ms = 0;  // so far, or in all
  double run_ms = 0;
  std::vector<StageTime> stages;  // when done
  std::optional<ApiError> error;  // when failed
};

class Job {
 public:
  using Clock = std::chrono::steady_clock;

  Job(std::string id, JobRequest request) : id_(std::move(id)), request_(std::move(request)) {}

  const std::string& id() const { return id_; }
  const std::string& client() const { return request_.client; }
  JobStatus status() const;

  // Returns once the job is over; false when `deadline` comes first.
  bool wait(Clock::time_point deadline) const;
  // Returns when the version is no longer `seen`, or after `timeout`.
  JobStatus wait_for_change(uint64_t seen, std::chrono::milliseconds timeout) const;
  // A job in the queue is over at once, one that runs stops at its next block.
  void cancel();
  // Once, after kDone, of a job without deliver.
  Reconstruction take_result();

  // For the executor alone.
  const JobRequest& request() const { return request_; }
  bool begin();  // false: cancelled meanwhile
  Progress progress();
  // `note` is called with the final status before anybody can see it: who has the answer to a job finds it counted.
  using Note = std::function<void(const JobStatus&)>;
  void finish(Reconstruction result, const Note& note);
  void fail(const ApiError& error, const Note& note);

 private:
  // Jobs are remembered long after they are over, and pictures are megabytes.
  void drop_pictures();
  // Under the lock.
  void become(JobState state);

  const std::string id_;
  JobRequest request_;
  CancelFlag cancel_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  JobStatus status_;
  Clock::time_point accepted_ = Clock::now();
  Clock::time_point began_;
  std::optional<Reconstruction> result_;
};

}  // namespace pointmap::server
