#include "apps/server/serving.h"

#include <utility>

#include "apps/server/request_check.h"

namespace pointmap::server {

Serving::Serving(const ServerOptions& options, decltype(Executor::Work::on_over) on_over)
    : options_(options),
      models_(options),
      queue_(options.queue_length, options.jobs_per_client),
      executor_(queue_, {.load = [this](const Progress& progress) { models_.load(progress); },
                         .run = [this](const JobRequest& request, const Progress& progress) { return models_.run(request, progress); },
                         .on_over = std::move(on_over)}) {}

void Serving::require_ready() const {
  if (state() == Executor::State::kReady && !is_draining_) return;
  if (is_draining_) throw ApiError{503, "draining", "the server is shutting down", 5};
  throw ApiError{503, "loading", "models are loading", 5};
}

std::shared_ptr<Job> Serving::submit(JobRequest request) {
  require_ready();
  auto job = std::make_shared<Job>(random_id() + random_id(), std::move(request));
  queue_.push(job);
  return job;
}

std::shared_ptr<Job> Serving::run(JobRequest request) {
  std::shared_ptr<Job> job = submit(std::move(request));
  if (!job->wait(Job::Clock::now() + options_.request_timeout)) {
    job->cancel();
    queue_.remove(*job);
    throw ApiError{503, "timeout", "not done within " + std::to_string(options_.request_timeout.count()) + " ms", 1};
  }
  const JobStatus status = job->status();
  if (status.error) throw ApiError(*status.error);
  if (status.state != JobState::kDone) throw ApiError{503, "cancelled", "the server is shutting down"};
  return job;
}

}  // namespace pointmap::server
