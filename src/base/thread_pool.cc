#include "base/thread_pool.h"

#include <chrono>
#include <utility>

#include "base/check.h"

namespace pointmap {
namespace {

// Long enough to bridge the serial gap between two ops, short enough not to burn a core when the model is idle.
constexpr auto kSpinTime = std::chrono::microseconds(50);

void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until ready() or the spin time is over; true when ready.
template <typename Ready>
bool spin_until(const Ready& ready) {
  const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return true;
      pause_cpu();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

thread_local bool t_inside_loop = false;

}  // namespace

ThreadPool::ThreadPool(size_t num_threads) {
  POINTMAP_CHECK(num_threads >= 1, "a thread pool needs at least 1 thread, got 0");
  workers_.reserve(num_threads - 1);
  for (size_t worker = 1; worker < num_threads; ++worker) workers_.emplace_back([this, worker] { worker_loop(worker); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_.store(true);
    generation_.fetch_add(1);
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::parallel_for(size_t num_tasks, const std::function<void(size_t, size_t)>& fn) {
  if (t_inside_loop) throw Error{kInternal, "parallel_for inside parallel_for"};
  if (busy_.exchange(true)) throw Error{kInternal, "parallel_for called by two threads at once"};
  fn_ = &fn;
  num_tasks_ = num_tasks;
  failed_.store(false, std::memory_order_relaxed);
  first_exception_ = nullptr;
  const bool fork = num_tasks > 1 && !workers_.empty();
  if (fork) {
    num_running_.store(workers_.size(), std::memory_order_relaxed);
    {
      // Under the lock, so that a worker between its last look and its sleep cannot miss the call.
      const std::lock_guard lock(mutex_);
      generation_.fetch_add(1, std::memory_order_release);
    }
    start_.notify_all();
    run_range(0);
    const auto all_done = [this] { return num_running_.load(std::memory_order_acquire) == 0; };
    if (!spin_until(all_done)) {
      std::unique_lock lock(mutex_);
      done_.wait(lock, all_done);
    }
  } else {
    t_inside_loop = true;
    try {
      for (size_t task = 0; task < num_tasks; ++task) fn(task, 0);
    } catch (...) {
      first_exception_ = std::current_exception();
    }
    t_inside_loop = false;
  }
  const std::exception_ptr exception = std::exchange(first_exception_, nullptr);
  busy_.store(false);
  if (exception) std::rethrow_exception(exception);
}

void ThreadPool::worker_loop(size_t worker) {
  uint64_t seen = 0;
  while (true) {
    const auto called = [this, &seen] { return generation_.load(std::memory_order_acquire) != seen; };
    if (!spin_until(called)) {
      std::unique_lock lock(mutex_);
      start_.wait(lock, called);
    }
    ++seen;
    if (stopping_.load()) return;
    run_range(worker);
    if (num_running_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const std::lock_guard lock(mutex_);
      done_.notify_one();
    }
  }
}

void ThreadPool::run_range(size_t worker) {
  const size_t threads = num_threads();
  const size_t begin = worker * num_tasks_ / threads;
  const size_t end = (worker + 1) * num_tasks_ / threads;
  t_inside_loop = true;
  try {
    for (size_t task = begin; task < end && !failed_.load(std::memory_order_relaxed); ++task) (*fn_)(task, worker);
  } catch (...) {
    const std::lock_guard lock(exception_mutex_);
    if (!first_exception_) first_exception_ = std::current_exception();
    failed_.store(true, std::memory_order_relaxed);
  }
  t_inside_loop = false;
}

}  // namespace pointmap
