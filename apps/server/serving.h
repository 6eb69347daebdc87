// The parts that routes share: models, queue, executor, and how a job is handed in.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "apps/server/executor.h"
#include "apps/server/job_queue.h"
#include "apps/server/model_set.h"
#include "apps/server/server_options.h"

namespace pointmap::server {

class Serving {
 public:
  // Opens the models, then begins to load them. `on_over` as in Executor::Work.
  Serving(const ServerOptions& options, decltype(Executor::Work::on_over) on_over);

  const ServerOptions& options() const { return options_; }
  const std::vector<ServedModel>& models() const { return models_.models(); }
  ModelSet::Machine machine() const { return models_.machine(); }
  JobQueue& queue() { return queue_; }
  Executor::State state() const { return executor_.state(); }
  std::string failure() const { return executor_.failure(); }
  std::chrono::steady_clock::time_point started() const { return started_; }

  void begin_draining() {
    is_draining_ = true;
    queue_.close();
  }
  JobQueue const& queue() const { return queue_; }
  bool is_draining() const { return is_draining_; }

  // Joins the executor: from then on nothing that a job calls is called.
  void stop() { executor_.stop(); }

  // Throws ApiError 503 while models are loading or the server is going down.
  void require_ready() const;
  // Throws what JobQueue::push throws, and what require_ready throws.
  std::shared_ptr<Job> submit(JobRequest request);
  // Submits and waits for the end. A job that takes longer than the request's time-out is cancelled. Throws ApiError for a job that was
  // not done.
  std::shared_ptr<Job> run(JobRequest request);

 private:
  const ServerOptions options_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::atomic<bool> is_draining_{false};
  ModelSet models_;
  JobQueue queue_;
  Executor executor_;  // last: its thread uses all above
};

}  // namespace pointmap::server
