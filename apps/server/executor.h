// The one thread that runs models: it loads them, then takes one job after another from the queue.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "apps/server/job_queue.h"

namespace pointmap::server {

class Executor {
 public:
  enum class State { kLoading, kReady, kFailed };

  struct Work {
    std::function<void(const Progress&)> load;
    std::function<Reconstruction(const JobRequest&, const Progress&)> run;
    // Of each job that began, before its end is seen; report is null unless it was done. Called on the executor's thread.
    std::function<void(const JobRequest&, const JobStatus&, const RunReport* report)> on_over = {};
  };

  // Starts at once. `queue` must outlive it.
  Executor(JobQueue& queue, Work work);
  ~Executor();  // stops
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Closes the queue, finishes what is in it (see JobQueue::cancel_all to be quicker) and joins; loading is cancelled.
  void stop();
  State state() const { return state_.load(); }
  std::string failure() const;  // why loading failed

 private:
  void run();
  void run_job(Job& job);

  JobQueue& queue_;
  const Work work_;
  CancelFlag cancel_loading_;
  std::atomic<State> state_{State::kLoading};
  mutable std::mutex mutex_;
  std::string failure_;
  std::thread thread_;
};

}  // namespace pointmap::server
