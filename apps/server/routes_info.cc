// What the server says about itself.
#include <nlohmann/json.hpp>

#include "apps/server/metrics.h"
#include "apps/server/native_jobs.h"
#include "apps/server/routes.h"
#include "apps/server/text.h"

namespace pointmap::server {

namespace {

using nlohmann::ordered_json;

HttpResponse json_response(const ordered_json& json) {
  return {.body = text_of(json)};
}

// 503 in the shape of every error, as long as requests would be refused.
HttpResponse health(Serving& serving) {
  serving.require_ready();
  return json_response({{"status", "ok"}});
}

HttpResponse ready(Serving& serving) {
  serving.require_ready();
  return json_response({{"ready", true}, {"queue_length", serving.queue().size()}, {"queue_capacity", serving.options().queue_length}});
}

ordered_json model_json(const ServedModel& model) {
  const ModelInfo& info = model.info;
  return {{"name", model.name},
          {"model", info.name},
          {"family", info.family},
          {"path", info.path},
          {"hash", info.fingerprint},
          {"dtype", info.dtype},
          {"parameters", info.num_parameters},
          {"license", info.license},
          {"default_preprocess", "pad"},
          {"pad_preset", model.pad_preset()},
          {"input_size", model.is_vggt() ? 518 : 512},
          {"notes", info.notes}};
}

ordered_json models_json(const Serving& serving) {
  ordered_json models = ordered_json::array();
  for (const ServedModel& model : serving.models()) models.push_back(model_json(model));
  return models;
}

ordered_json limits_json(const ServerOptions& options) {
  return {{"max_body_bytes", options.max_body_bytes},
          {"max_pixels", options.max_pixels},
          {"max_views", options.max_views},
          {"queue", options.queue_length},
          {"jobs_per_client", options.jobs_per_client},
          {"request_timeout_ms", options.request_timeout.count()},
          {"sync_below_bytes", options.sync_below_bytes},
          {"results_ttl_s", options.results_ttl.count()}};
}

HttpResponse info(Serving& serving) {
  const ModelSet::Machine machine = serving.machine();
  const auto uptime = std::chrono::steady_clock::now() - serving.started();
  return json_response({{"model", serving.models()[0].name},
                        {"models", models_json(serving)},
                        {"precision", "fp32"},
                        {"device", machine.device},
                        {"cpu", machine.cpu},
                        {"threads", machine.num_threads},
                        {"limits", limits_json(serving.options())},
                        {"build", {{"version", version()}, {"compiler", compiler()}}},
                        {"uptime_s", std::chrono::duration<double>(uptime).count()}});
}

}  // namespace

void add_info_routes(Router& router, Serving& serving) {
  router.add({"GET", "/health", [&serving](const HttpRequest&) { return health(serving); }, /*is_open=*/true});
  router.add({"GET", "/ready", [&serving](const HttpRequest&) { return ready(serving); }, /*is_open=*/true});
  router.add({"GET", "/info", [&serving](const HttpRequest&) { return info(serving); }});
  router.add({"GET", "/v1/models", [&serving](const HttpRequest&) { return json_response({{"models", models_json(serving)}}); }});
}

void add_metrics_route(Router& router, Serving& serving, const NativeJobs& jobs, Metrics& metrics) {
  router.add({"GET", "/metrics", [&serving, &jobs, &metrics](const HttpRequest&) {
                return HttpResponse{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                                    .body = metrics.text(serving, jobs.results().size())};
              }});
}

}  // namespace pointmap::server
