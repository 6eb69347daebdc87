// Fork-join pool: one inference at a time, all threads on one loop. Passed in, never global.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pointmap {

class ThreadPool {
 public:
  // num_threads counts the caller: 1 means no extra thread is started. 0 is refused with Error{kInvalidArgument}.
  explicit ThreadPool(size_t num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t num_threads() const { return workers_.size() + 1; }

  // Calls fn(task, worker) for task in [0, num_tasks), worker in [0, num_threads). Worker w gets the contiguous range
  // [w*n/T, (w+1)*n/T): who computes what depends on T, so tasks must not share a reduction. The caller is worker 0. The first
  // exception is rethrown here after all workers stopped (the others finish the task they are in and start no new one).
  // One call at a time per pool; a call from inside fn throws Error{kInternal}.
  void parallel_for(size_t num_tasks, const std::function<void(size_t task, size_t worker)>& fn);

 private:
  void worker_loop(size_t worker);
  void run_range(size_t worker);

  std::vector<std::thread> workers_;
  // The loop being run: written by the caller before generation_ moves on, read by workers after they saw it move.
  const std::function<void(size_t, size_t)>* fn_ = nullptr;
  size_t num_tasks_ = 0;
  std::atomic<bool> failed_{false};
  std::exception_ptr first_exception_;
  std::mutex exception_mutex_;

  std::atomic<uint64_t> generation_{0};
  std::atomic<size_t> num_running_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> busy_{false};
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
};

}  // namespace pointmap
