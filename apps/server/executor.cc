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
  RunReport report;
  bool is_done = false;
  try {
    Reconstruction result = work_.run(job.request(), job.progress());
    report = result.report;
    if (job.request().deliver) job.request().deliver(result, job);
    is_done = true;
    job.finish(std::move(result));
  } catch (const std::exception&) {
    job.fail(current_error("not enough memory for this reconstruction"));
  }
  if (work_.on_over) work_.on_over(job, is_done ? &report : nullptr);
}

}  // namespace pointmap::server
