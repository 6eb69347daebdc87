// How often and how patiently a broken connection is tried again. Private to this folder.
#pragma once

#include <string>

#include "base/cancel.h"

namespace pointmap {

// Sleeps in short slices. Throws Error{kCancelled} as soon as cancel (may be null) is raised.
void sleep_unless_cancelled(int milliseconds, const CancelFlag* cancel);

class Backoff {
 public:
  Backoff(int max_attempts, int first_pause_ms, const CancelFlag* cancel)
      : max_attempts_(max_attempts), first_pause_ms_(first_pause_ms), pause_ms_(first_pause_ms), cancel_(cancel) {}

  // After a failed attempt: sleeps, twice as long each time, or throws Error{kIoError} with `what` once max_attempts failed in a row.
  void failed(const std::string& what);
  // The last attempt got somewhere: count from zero again.
  void reset();

 private:
  const int max_attempts_;
  const int first_pause_ms_;
  int failures_ = 0;
  int pause_ms_;
  const CancelFlag* cancel_;
};

}  // namespace pointmap
