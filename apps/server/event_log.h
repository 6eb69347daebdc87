// The log: one JSON object a line, whole even when many threads write.
#pragma once

#include <iosfwd>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "apps/server/http_server.h"

namespace pointmap::server {

class EventLog {
 public:
  explicit EventLog(std::ostream& out) : out_(out) {}

  // {"time": ..., "event": event, ...fields}
  void event(const std::string& event, const nlohmann::ordered_json& fields);
  void answered(const Answered& answered);

 private:
  std::mutex mutex_;
  std::ostream& out_;
};

}  // namespace pointmap::server
