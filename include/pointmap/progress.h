// How long work tells its caller where it is, and hears that it should stop.
#pragma once

#include <atomic>
#include <functional>
#include <string_view>

#include "pointmap/error.h"

namespace pointmap {

// Raised by another thread or a signal handler to stop long work at its next block.
class CancelFlag {
 public:
  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

  // Throws Error{kCancelled} once request() has been called.
  void throw_if_requested() const {
    if (requested()) throw Error{kCancelled, "cancelled"};
  }

 private:
  std::atomic<bool> requested_{false};
};

struct Progress {
  // Called before step `done` of `total` in `stage` ("encoder", "decoder 1", ...), on the thread that runs the model. May be empty.
  std::function<void(std::string_view stage, int done, int total)> on_step;
  const CancelFlag* cancel = nullptr;  // may be null

  // Between blocks: throws Error{kCancelled} when asked to stop, then reports.
  void step(std::string_view stage, int done, int total) const {
    if (cancel != nullptr) cancel->throw_if_requested();
    if (on_step) on_step(stage, done, total);
  }
};

}  // namespace pointmap
