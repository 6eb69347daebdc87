#include "apps/server/executor.h"

#include <utility>

namespace pointmap::server {

Executor::Executor(JobQueue& queue, Work work) : queue_(queue), work_(std::move(work)), thread_([this] { run(); }) {}

Executor::~Executor() {
  stop();
}

void Executor::stop() {
  cancel_loading_.request();
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

std::string Executor::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Executor::run() {
  try {
    work_.load({.on_step = {}, .cancel = &cancel_loading_});
    state_ = State::kReady;
  } catch (const std::exception& error) {
    {
      const std::lock_guard lock(mutex_);
      failure_ = error.what();
    }
    state_ = State::kFailed;
    return;
  }
  while (const std::shared_ptr<Job> job = queue_.pop()) {
    if (job->begin()) {
      run_job(*job);
      queue_.note_run_ms(job->status().run_ms);
    }
    queue_.done();
  }
}

void Executor::run_job(Job& job) {
  const auto note = [&](const RunReport* report) {
    return [this, &job, report](const JobStatus& status) {
      if (work_.on_over) work_.on_over(job.request(), status, report);
    };
  };
  try {
    Reconstruction result = work_.run(job.request(), job.progress());
    if (job.request().deliver) job.request().deliver(result, job);
    const RunReport report = result.report;
    job.finish(std::move(result), note(&report));
  } catch (const std::exception&) {
    job.fail(current_error("not enough memory for this reconstruction"), note(nullptr));
  }
}

}  // namespace pointmap::server
