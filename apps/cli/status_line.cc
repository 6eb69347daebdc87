#include "status_line.h"

#include <unistd.h>

#include <iostream>

namespace pointmap::cli {

StatusLine::StatusLine(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) != 0) {}

void StatusLine::step(std::string_view stage, int done, int total) {
  if (quiet_) return;
  const bool new_stage = stage != last_stage_;
  last_stage_ = stage;
  if (terminal_) {
    show(std::string(stage) + " " + std::to_string(done) + "/" + std::to_string(total));
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
