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

  void step(std::string_view stage, int done, int total);
  void bytes(std::string_view file, unsigned long long done, unsigned long long total);
  void clear();

 private:
  void show(const std::string& text);

  bool quiet_;
  bool terminal_;
  bool shown_ = false;
  std::string last_stage_;
  std::chrono::steady_clock::time_point last_shown_{};
};

}  // namespace pointmap::cli
