#include "apps/server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace pointmap::server {

namespace {

const prometheus::Histogram::BucketBoundaries kSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                          0.5,   1,      2.5,   5,    10,    30,   60,  300};

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0, resident_pages = 0;
  file >> pages >> resident_pages;
  return resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

// Labels must be few: a client may send any word as its method.
std::string known_method(const std::string& method) {
  constexpr std::array<const char*, 4> kKnown = {"GET", "HEAD", "POST", "DELETE"};
  return std::find(kKnown.begin(), kKnown.end(), method) != kKnown.end() ? method : "other";
}

}  // namespace

struct Metrics::Families {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& requests =
      prometheus::BuildCounter().Name("pointmap_http_requests_total").Help("Requests answered").Register(registry);
  prometheus::Family<prometheus::Histogram>& request_seconds =
      prometheus::BuildHistogram().Name("pointmap_http_request_seconds").Help("From header to answer sent").Register(registry);
  prometheus::Family<prometheus::Counter>& bytes =
      prometheus::BuildCounter().Name("pointmap_http_bytes_total").Help("Bytes received and sent").Register(registry);
  prometheus::Family<prometheus::Counter>& jobs =
      prometheus::BuildCounter().Name("pointmap_jobs_total").Help("Jobs that are over").Register(registry);
  prometheus::Family<prometheus::Histogram>& stage_seconds =
      prometheus::BuildHistogram().Name("pointmap_stage_seconds").Help("Time of a job's stages; queue is one of them").Register(registry);
  prometheus::Family<prometheus::Gauge>& queue =
      prometheus::BuildGauge().Name("pointmap_queue_length").Help("Jobs waiting").Register(registry);
  prometheus::Family<prometheus::Gauge>& capacity =
      prometheus::BuildGauge().Name("pointmap_queue_capacity").Help("Jobs that may wait").Register(registry);
  prometheus::Family<prometheus::Gauge>& ready =
      prometheus::BuildGauge().Name("pointmap_ready").Help("1 while jobs are taken").Register(registry);
  prometheus::Family<prometheus::Gauge>& results =
      prometheus::BuildGauge().Name("pointmap_results").Help("Results of native jobs that can be fetched").Register(registry);
  prometheus::Family<prometheus::Counter>& faults =
      prometheus::BuildCounter().Name("pointmap_result_faults_total").Help("Stored results found broken").Register(registry);
  prometheus::Family<prometheus::Gauge>& memory =
      prometheus::BuildGauge().Name("process_resident_memory_bytes").Help("Resident memory").Register(registry);
  prometheus::Family<prometheus::Gauge>& model =
      prometheus::BuildGauge().Name("pointmap_model_info").Help("1 for each model served").Register(registry);
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {
  families_->faults.Add({});  // there from the start, at 0
}
Metrics::~Metrics() = default;

void Metrics::answered(const Answered& answered) {
  const std::string route = answered.route.empty() ? "none" : answered.route;
  families_->requests.Add({{"route", route}, {"method", known_method(answered.method)}, {"status", std::to_string(answered.status)}})
      .Increment();
  families_->request_seconds.Add({{"route", route}}, kSeconds).Observe(answered.ms / 1000);
  families_->bytes.Add({{"direction", "in"}}).Increment(static_cast<double>(answered.bytes_in));
  families_->bytes.Add({{"direction", "out"}}).Increment(static_cast<double>(answered.bytes_out));
}

void Metrics::job_over(const std::string& model, const JobStatus& status, const RunReport* report) {
  families_->jobs.Add({{"model", model}, {"state", std::string(job_state_name(status.state))}}).Increment();
  const auto observe = [&](const std::string& stage, double ms) {
    families_->stage_seconds.Add({{"model", model}, {"stage", stage}}, kSeconds).Observe(ms / 1000);
  };
  observe("queue", status.queue_ms);
  if (report == nullptr) return;
  for (const StageTime& stage : report->stages) observe(stage.stage, stage.ms);
}

void Metrics::result_fault() {
  families_->faults.Add({}).Increment();
}

std::string Metrics::text(Serving& serving, size_t num_results) {
  families_->queue.Add({}).Set(static_cast<double>(serving.queue().size()));
  families_->capacity.Add({}).Set(static_cast<double>(serving.options().queue_length));
  families_->ready.Add({}).Set(serving.state() == Executor::State::kReady && !serving.is_draining() ? 1 : 0);
  families_->results.Add({}).Set(static_cast<double>(num_results));
  families_->memory.Add({}).Set(resident_bytes());
  for (const ServedModel& model : serving.models()) {
    families_->model
        .Add({{"name", model.name},
              {"model", model.info.name},
              {"family", model.info.family},
              {"hash", model.info.fingerprint},
              {"version", std::string(version())}})
        .Set(1);
  }
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace pointmap::server
