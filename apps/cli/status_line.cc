#include "status_line.h"

#include <unistd.h>

#include <cmath>
#include <iostream>

namespace pointmap::cli {

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  const auto two_digits = [](long value) {
    std::string text = std::to_string(value);
    if (value < 10) text.insert(text.begin(), '0');
    return text;
  };
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + two_digits(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + two_digits(whole / 60 % 60) + " min";
}

StatusLine::StatusLine(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) != 0) {}

void StatusLine::step(std::string_view stage, int done, int total) {
  if (quiet_) return;
  const bool new_stage = stage != last_stage_;
  last_stage_ = stage;
  const auto now = std::chrono::steady_clock::now();
  if (new_stage) {
    stage_began_ = now;
    stage_began_at_ = done;
  }
  if (terminal_) {
    std::string text = std::string(stage) + " " + std::to_string(done) + "/" + std::to_string(total);
    const double seconds = std::chrono::duration<double>(now - stage_began_).count();
    const int num_done = done - stage_began_at_;
    if (num_done > 0 && seconds >= 1) text += ", about " + duration_text(seconds / num_done * (total - done)) + " left in this stage";
    show(text);
  } else if (new_stage) {
    std::cerr << stage << "\n";
  }
}

void StatusLine::bytes(std::string_view file, unsigned long long done, unsigned long long total) {
  if (quiet_) return;
  const bool new_file = file != last_stage_;
  last_stage_ = file;
  const auto now = std::chrono::steady_clock::now();
  const bool due = new_file || done == total || now - last_shown_ > std::chrono::milliseconds(terminal_ ? 100 : 10'000);
  if (!due) return;
  last_shown_ = now;
  std::string text = std::string(file) + " " + std::to_string(done >> 20);
  if (total > 0) text.append("/").append(std::to_string(total >> 20));
  text += " MiB";
  if (terminal_) {
    show(text);
  } else {
    std::cerr << text << "\n";
  }
}

void StatusLine::show(const std::string& text) {
  std::cerr << "\r\033[K" << text << std::flush;
  shown_ = true;
}

void StatusLine::clear() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
  shown_ = false;
}

}  // namespace pointmap::cli
