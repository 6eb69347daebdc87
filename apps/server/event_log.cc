#include "apps/server/event_log.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <ostream>

#include "apps/server/text.h"

namespace pointmap::server {

namespace {

// "2026-11-30T19:02:05.123Z"
std::string timestamp() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char date[32], text[48];
  std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text, sizeof(text), "%s.%03dZ", date, static_cast<int>(ms));
  return text;
}

}  // namespace

void EventLog::event(const std::string& event, const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json line = {{"time", timestamp()}, {"event", event}};
  line.update(fields);
  const std::string text = text_of(line) + "\n";
  const std::lock_guard lock(mutex_);
  out_ << text << std::flush;
}

void EventLog::answered(const Answered& a) {
  event("request", {{"request_id", a.request_id},
                    {"client", a.client},
                    {"method", a.method},
                    {"path", a.path.substr(0, 256)},
                    {"status", a.status},
                    {"bytes_in", a.bytes_in},
                    {"bytes_out", a.bytes_out},
                    {"ms", std::round(a.ms * 1000) / 1000}});
}

}  // namespace pointmap::server
