#include "apps/server/connection_threads.h"

#include <utility>

namespace pointmap::server {

ConnectionThreads::ConnectionThreads(size_t num_threads, size_t max_waiting) : max_waiting_(max_waiting), num_free_(num_threads) {
  for (size_t i = 0; i < num_threads; ++i) threads_.emplace_back([this] { work(); });
}

ConnectionThreads::~ConnectionThreads() {
  shutdown();
}

ConnectionThreads::Enqueued ConnectionThreads::enqueue(std::function<void()> connection) {
  bool is_full = false;
  {
    const std::lock_guard lock(mutex_);
    is_full = waiting_.size() >= max_waiting_ + num_free_;  // a free thread may not have woken yet for what it was given
    if (!is_full) {
      waiting_.push_back(std::move(connection));
      note_change();
    }
  }
  if (is_full) {
    connection();
  } else {
    changed_.notify_one();
  }
  return static_cast<Enqueued>(true);
}

void ConnectionThreads::shutdown() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void ConnectionThreads::work() {
  while (true) {
    std::function<void()> connection;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      --num_free_;
      if (waiting_.empty()) return;
      connection = std::move(waiting_.front());
      waiting_.pop_front();
      note_change();
    }
    connection();
    const std::lock_guard lock(mutex_);
    ++num_free_;
    note_change();
  }
}

}  // namespace pointmap::server
