#include "measure.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "fma_peak.h"

namespace pointmap::bench {
namespace {

// The threads of OpenBLAS and libgomp spin for some 20 ms after a call, on the cores that the next candidate needs.
constexpr std::chrono::milliseconds kPause(40);

}  // namespace

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void measure(std::vector<Candidate>& candidates, Clock clock, double budget_seconds) {
  const auto now = clock == Clock::kThreadCpu ? thread_cpu_seconds : wall_seconds;
  for (Candidate& candidate : candidates) candidate.run();
  const double deadline = wall_seconds() + budget_seconds;
  for (int round = 0; round < 3 || wall_seconds() < deadline; ++round) {
    for (Candidate& candidate : candidates) {
      if (clock == Clock::kWall) {
        if (candidates.size() > 1) std::this_thread::sleep_for(kPause);
        candidate.run();  // wakes threads and clocks: a sleeping virtual core takes a millisecond to come back
      }
      const double start = now();
      candidate.run();
      candidate.seconds.push_back(now() - start);
    }
  }
  for (Candidate& candidate : candidates) std::sort(candidate.seconds.begin(), candidate.seconds.end());
}

}  // namespace pointmap::bench
