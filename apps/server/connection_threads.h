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

  // Connections without a thread: idle ones should make room.
  bool has_waiting() const { return num_waiting_.load(std::memory_order_relaxed) > 0; }

 private:
  void work();

  size_t max_waiting_;
  std::atomic<size_t> num_waiting_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace pointmap::server
