// One line on stderr that says where long work is.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace pointmap::cli {

// On a terminal the line rewrites itself; elsewhere (a log file) every stage gets one line of its own.
class StatusLine {
 public:
  explicit StatusLine(bool quiet);
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // Says the step, and, once a second of the stage has passed, how long the rest of the stage will take if it goes on like this.
  void step(std::string_view stage, int done, int total);
  void bytes(std::string_view file, unsigned long long done, unsigned long long total);
  void clear();

 private:
  void show(const std::string& text);

  bool quiet_;
  bool terminal_;
  bool shown_ = false;
  std::string last_stage_;
  std::chrono::steady_clock::time_point stage_began_{};
  int stage_began_at_ = 0;  // the first step of the stage that was reported
  std::chrono::steady_clock::time_point last_shown_{};
};

// "42 s", "3 min 05 s", "2 h 07 min"
std::string duration_text(double seconds);

}  // namespace pointmap::cli
