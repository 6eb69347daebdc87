// A flag that another thread or a signal handler raises to stop long work at the next block.
#pragma once

#include <atomic>

#include "base/error.h"

namespace pointmap {

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

}  // namespace pointmap
