// Wall-clock time of a stage.
#pragma once

#include <chrono>

namespace pointmap {

class Stopwatch {
 public:
  double elapsed_ms() const { return std::chrono::duration<double, std::milli>(Clock::now() - start_).count(); }

  // Milliseconds since construction or the last lap(); starts the next lap.
  double lap_ms() {
    const Clock::time_point now = Clock::now();
    const double ms = std::chrono::duration<double, std::milli>(now - start_).count();
    start_ = now;
    return ms;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace pointmap
