// The threads that serve connections. A fixed number; what comes while all are busy waits in line, and what finds the line full is run at
// once on the thread that accepts, where the server turns it away.
#pragma once

#include <httplib.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pointmap::server {

class ConnectionThreads : public httplib::TaskQueue {
 public:
  ConnectionThreads(size_t num_threads, size_t max_waiting);
  ~ConnectionThreads() override;

  // Later versions of cpp-httplib want to hear whether it was taken.
  using Enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue(std::function<void()>()));
  Enqueued enqueue(std::function<void()> connection) override;
  // Runs what waits, then joins.
  void shutdown() override;

  // More connections wait than threads are free: idle ones should make room.
  bool is_crowded() const { return is_crowded_.load(std::memory_order_relaxed); }

 private:
  void work();
  // Under the lock, after any change.
  void note_change() { is_crowded_ = waiting_.size() > num_free_; }

  size_t max_waiting_;
  std::atomic<bool> is_crowded_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  size_t num_free_;  // serving nothing, or about to start
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace pointmap::server
