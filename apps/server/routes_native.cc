// /v1: jobs that clients hand in, watch, cancel and fetch.
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/server/byte_range.h"
#include "apps/server/native_jobs.h"
#include "apps/server/routes.h"
#include "apps/server/text.h"

namespace pointmap::server {

namespace {

using nlohmann::ordered_json;
using std::chrono::milliseconds;

HttpResponse job_response(int status, const ordered_json& job) {
  HttpResponse response{.status = status, .body = text_of(job)};
  response.headers.emplace_back("Location", "/v1/jobs/" + job["id"].get<std::string>());
  return response;
}

HttpResponse reconstruct(const HttpRequest& http, Serving& serving, NativeJobs& jobs) {
  serving.require_ready();
  const ServerOptions& options = serving.options();
  NativeRequest request = parse_native_request(http, serving.models(), options.max_views);
  const bool waits = request.wait.value_or(http.body.size() < options.sync_below_bytes);
  const std::shared_ptr<Job> job = jobs.submit(std::move(request), http.client);
  if (!waits) return job_response(202, jobs.describe(*job, job->status()));
  // Whoever waited in vain can still fetch the result.
  if (!job->wait(Job::Clock::now() + options.request_timeout)) return job_response(202, jobs.describe(*job, job->status()));
  const JobStatus status = job->status();
  if (status.error) throw ApiError(*status.error);
  if (status.state != JobState::kDone) throw ApiError{503, "cancelled", "the job was cancelled"};
  return job_response(200, jobs.describe(*job, status));
}

std::string sse_event(const std::string& name, const ordered_json& data) {
  return "event: " + name + "\ndata: " + text_of(data) + "\n\n";
}

// Each change of the job as an event named "progress", the last one named after the state it ended in.
HttpResponse events(const HttpRequest& http, NativeJobs& jobs) {
  const std::string& id = http.path_parameters.at("id");
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.headers.emplace_back("Cache-Control", "no-store");
  const std::shared_ptr<Job> job = jobs.find(id);
  if (!job) {
    const ordered_json stored = jobs.describe(id);
    response.body = sse_event(stored["state"], stored);
    return response;
  }
  response.stream = [&jobs, job, place = jobs.take_watching_place(), seen = UINT64_MAX, idle_ms = 0](std::string& out) mutable {
    constexpr milliseconds kStep{500};
    constexpr int kPingMs = 2000;  // a client that left is noticed by writing to it
    const JobStatus status = job->wait_for_change(seen, kStep);
    if (status.version == seen) {
      idle_ms += static_cast<int>(kStep.count());
      if (idle_ms >= kPingMs) {
        out = ": still there\n\n";
        idle_ms = 0;
      }
      return true;
    }
    seen = status.version;
    const bool is_last = is_over(status.state);
    out = sse_event(is_last ? std::string(job_state_name(status.state)) : "progress", jobs.describe(*job, status));
    return !is_last;
  };
  return response;
}

std::string content_type_of(const std::string& name) {
  const auto ends_with = [&](const char* end) { return name.ends_with(end); };
  if (ends_with(".json")) return "application/json";
  if (ends_with(".png")) return "image/png";
  if (ends_with(".glb")) return "model/gltf-binary";
  if (ends_with(".npz")) return "application/x-npz";
  if (ends_with(".zip")) return "application/zip";
  if (ends_with(".txt")) return "text/plain; charset=utf-8";
  return "application/octet-stream";
}

HttpResponse artifact(const HttpRequest& http, NativeJobs& jobs) {
  const std::string& name = http.path_parameters.at("name");
  HttpResponse response;
  try {
    response.file = std::make_shared<FileBody>(jobs.results().artifact_path(http.path_parameters.at("id"), name));
  } catch (const Error&) {
    throw ApiError{404, "not_found", "this artefact is no longer there"};  // expired in between
  }
  response.content_type = content_type_of(name);
  response.headers.emplace_back("Accept-Ranges", "bytes");
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  const uint64_t size = response.file->size();
  response.file_length = size;
  if (const std::optional<ByteRange> range = parse_range(http.header("range"), size)) {
    response.status = 206;
    response.file_begin = range->begin;
    response.file_length = range->length;
    response.headers.emplace_back("Content-Range", "bytes " + std::to_string(range->begin) + "-" +
                                                       std::to_string(range->begin + range->length - 1) + "/" + std::to_string(size));
  }
  return response;
}

HttpResponse remove(const HttpRequest& http, NativeJobs& jobs) {
  const std::string& id = http.path_parameters.at("id");
  if (jobs.cancel_or_remove(id)) return {.status = 202, .body = text_of(jobs.describe(id))};
  return {.status = 204};
}

}  // namespace

void add_native_routes(Router& router, Serving& serving, NativeJobs& jobs) {
  router.add({"POST", "/v1/reconstruct", [&](const HttpRequest& http) { return reconstruct(http, serving, jobs); }});
  router.add({"GET", "/v1/jobs/{id}",
              [&](const HttpRequest& http) { return HttpResponse{.body = text_of(jobs.describe(http.path_parameters.at("id")))}; }});
  router.add({"DELETE", "/v1/jobs/{id}", [&](const HttpRequest& http) { return remove(http, jobs); }});
  router.add({"GET", "/v1/jobs/{id}/events", [&](const HttpRequest& http) { return events(http, jobs); }});
  router.add({"GET", "/v1/jobs/{id}/artifacts/{name}", [&](const HttpRequest& http) { return artifact(http, jobs); }});
}

}  // namespace pointmap::server
