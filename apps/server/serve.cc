// From start to end: listen, load, answer, drain, stop.
#include "apps/server/serve.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "apps/server/api_keys.h"
#include "apps/server/event_log.h"
#include "apps/server/http_server.h"
#include "apps/server/metrics.h"
#include "apps/server/native_jobs.h"
#include "apps/server/routes.h"

namespace pointmap::server {

namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::ordered_json;
using std::chrono::milliseconds;

HttpSettings http_settings(const ServerOptions& options, const std::optional<ApiKeys>& keys, EventLog& log, Metrics& metrics) {
  HttpSettings settings;
  settings.host = options.host;
  settings.port = options.port;
  settings.num_threads = options.http_threads;
  settings.max_body_bytes = options.max_body_bytes;
  settings.stream.header_time = settings.stream.grace = options.client_timeout;
  settings.stream.max_body_bytes = options.max_body_bytes + options.max_body_bytes / 4 + (1 << 20);  // chunk headers
  settings.cors_origin = options.cors_origin;
  if (keys)
    settings.authenticate = [&keys](const std::string& authorization, const std::string&) { return keys->client_of(authorization); };
  settings.on_answer = [&log, &metrics](const Answered& answered) {
    log.answered(answered);
    metrics.answered(answered);
  };
  return settings;
}

// Until then, or until it is so.
template <typename Condition>
bool wait_until(Clock::time_point deadline, const Condition& is_so) {
  while (!is_so()) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return true;
}

void drain(Serving& serving, const HttpServer& http, EventLog& log) {
  log.event("draining", {{"jobs", serving.queue().size()}});
  serving.begin_draining();
  const auto is_idle = [&] { return serving.queue().is_idle(); };
  if (!wait_until(Clock::now() + serving.options().drain_timeout, is_idle)) {
    log.event("cancelling", {{"jobs", serving.queue().size()}});
    serving.queue().cancel_all();
  }
  // Answers of the jobs above; whoever still reads slowly, or watches, is cut off.
  wait_until(Clock::now() + milliseconds(2000), [&] { return http.num_in_flight() == 0; });
}

}  // namespace

int serve(const ServerOptions& options, const CancelFlag& stop, std::ostream& log_stream) {
  EventLog log(log_stream);
  const std::optional<ApiKeys> keys = options.api_key_file.empty() ? std::nullopt : std::optional(ApiKeys::read(options.api_key_file));
  Metrics metrics;
  const auto note_fault = [&](const std::string& what) {
    log.event("broken_result", {{"message", what}});
    metrics.result_fault();
  };
  const std::vector<std::string> model_names = [&] {
    std::vector<std::string> result;
    for (const ModelChoice& choice : options.models) result.push_back(choice.name);
    return result;
  }();
  Serving serving(options, [&](const JobRequest& request, const JobStatus& status, const RunReport* report) {
    metrics.job_over(model_names.at(request.model), status, report);
  });
  NativeJobs jobs(serving, note_fault);
  Router router;
  add_info_routes(router, serving);
  add_predict_routes(router, serving);
  add_native_routes(router, serving, jobs);
  add_metrics_route(router, serving, jobs, metrics);
  add_page_routes(router);
  HttpServer http(router, http_settings(options, keys, log, metrics));
  ordered_json names = ordered_json::array();
  for (const ServedModel& model : serving.models()) names.push_back({{"name", model.name}, {"license", model.info.license}});
  log.event("listening", {{"host", options.host}, {"port", http.port()}, {"models", names}});

  bool was_ready = false;
  Clock::time_point next_expiry = Clock::now();
  while (!stop.requested()) {
    if (serving.state() == Executor::State::kFailed) {
      log.event("failed", {{"message", serving.failure()}});
      return 1;
    }
    if (!was_ready && serving.state() == Executor::State::kReady) {
      was_ready = true;
      log.event("ready", {{"ms", std::chrono::duration<double, std::milli>(Clock::now() - serving.started()).count()}});
    }
    if (Clock::now() >= next_expiry) {
      jobs.expire();
      next_expiry = Clock::now() + milliseconds(1000);
    }
    std::this_thread::sleep_for(milliseconds(20));
  }
  drain(serving, http, log);
  http.stop();
  serving.stop();
  log.event("stopped", ordered_json::object());
  return 0;
}

}  // namespace pointmap::server
