#include "io/hub/backoff.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.h"

namespace pointmap {

void sleep_unless_cancelled(int milliseconds, const CancelFlag* cancel) {
  constexpr int kSliceMs = 50;
  for (int left = milliseconds; left > 0; left -= kSliceMs) {
    if (cancel != nullptr) cancel->throw_if_requested();
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(left, kSliceMs)));
  }
  if (cancel != nullptr) cancel->throw_if_requested();
}

void Backoff::failed(const std::string& what) {
  constexpr int kMaxPauseMs = 10'000;
  if (++failures_ >= max_attempts_) throw Error{kIoError, what + " (gave up after " + std::to_string(failures_) + " attempts)"};
  sleep_unless_cancelled(pause_ms_, cancel_);
  pause_ms_ = std::min(2 * pause_ms_, kMaxPauseMs);
}

void Backoff::reset() {
  failures_ = 0;
  pause_ms_ = first_pause_ms_;
}

}  // namespace pointmap
