// Timing several ways to do one thing, in turns, so that a change of clock speed or a busy neighbour meets all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace pointmap::bench {

double wall_seconds();

struct Candidate {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds = {};  // of every run, ascending after measure()

  double best() const { return seconds.front(); }
  double median() const { return seconds[seconds.size() / 2]; }
};

enum class Clock { kThreadCpu, kWall };

// Runs all candidates once unmeasured, then in turns until budget_seconds have passed, at least 3 times.
void measure(std::vector<Candidate>& candidates, Clock clock, double budget_seconds);

}  // namespace pointmap::bench
