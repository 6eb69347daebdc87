#include "apps/server/native_jobs.h"

#include <utility>

#include "apps/server/predict_response.h"
#include "pointmap/report.h"

namespace pointmap::server {

namespace {

using nlohmann::ordered_json;

ordered_json stages_json(const std::vector<StageTime>& stages) {
  ordered_json list = ordered_json::array();
  for (const StageTime& stage : stages) list.push_back({{"stage", stage.stage}, {"ms", seven_digits(stage.ms)}});
  return list;
}

ordered_json artifacts_json(const StoredResult& result) {
  ordered_json list = ordered_json::array();
  for (const Artifact& artifact : result.artifacts) {
    list.push_back({{"name", artifact.name}, {"bytes", artifact.bytes}, {"url", "/v1/jobs/" + result.id + "/artifacts/" + artifact.name}});
  }
  return list;
}

// "all" means all that this scene can be written in; a format that was named is wanted or the job has failed.
void leave_out_refused(Reconstruction& run, std::set<ExportFormat>& formats) {
  for (const RefusedFormat& refused : refused_formats(run.scene)) {
    formats.erase(refused.format);
    run.report.notes.push_back("not exported: " + std::string(export_format_name(refused.format)) + ": " + refused.reason);
  }
}

ApiError no_such_job() {
  return {404, "not_found", "no such job; it may have expired"};
}

}  // namespace

NativeJobs::NativeJobs(Serving& serving, const std::function<void(const std::string&)>& on_fault)
    : serving_(serving),
      results_({serving.options().results_dir, serving.options().results_ttl, serving.options().max_results}, on_fault),
      table_(serving.options().results_ttl, serving.options().max_results) {}

std::shared_ptr<Job> NativeJobs::submit(NativeRequest request, const std::string& client) {
  JobRequest job;
  job.model = request.model;
  job.photos = std::move(request.photos);
  job.options = std::move(request.options);
  job.options.max_pixels = serving_.options().max_pixels;
  job.client = client;
  job.deliver = [this, delivery = Delivery{std::move(request.files), std::move(request.file_names), request.all_formats}](
                    Reconstruction& run, const Job& done) { deliver(run, done, delivery); };
  std::shared_ptr<Job> submitted = serving_.submit(std::move(job));
  table_.add(submitted);
  return submitted;
}

void NativeJobs::deliver(Reconstruction& run, const Job& job, const Delivery& delivery) {
  const ServedModel& model = serving_.models()[job.request().model];
  const std::filesystem::path folder = results_.begin(job.id());
  try {
    const auto started = std::chrono::steady_clock::now();
    ExportOptions options = delivery.files;
    options.generator = generator_name();
    for (size_t i = 0; i < run.scene.views.size(); ++i) run.scene.views[i].source = delivery.file_names.at(i);
    if (delivery.all_formats) leave_out_refused(run, options.formats);
    std::vector<ExportedFile> exported = export_scene(run.scene, folder, options);
    for (ExportedFile& file : exported) file.path = file.path.filename();  // where they lie is nobody's business
    run.report.stages.push_back({"export", std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count()});
    write_report(report_json(model.info, run, exported), folder);
    results_.publish(job.id(), {{"model", model.name},
                                {"queue_ms", seven_digits(job.status().queue_ms)},
                                {"run_ms", seven_digits(job.status().run_ms)},
                                {"stages", stages_json(run.report.stages)},
                                {"notes", run.report.notes}});
  } catch (...) {
    results_.discard(job.id());
    throw;
  }
}

ordered_json NativeJobs::describe(const std::string& id) const {
  if (const std::shared_ptr<Job> job = table_.find(id)) return describe(*job, job->status());
  const std::optional<StoredResult> result = results_.find(id);
  if (!result) throw no_such_job();
  ordered_json json = {{"id", id}, {"state", job_state_name(JobState::kDone)}, {"error", nullptr}};
  json.update(result->facts);
  json["artifacts"] = artifacts_json(*result);
  return json;
}

ordered_json NativeJobs::describe(const Job& job, const JobStatus& status) const {
  ordered_json json = {{"id", job.id()}, {"state", job_state_name(status.state)}, {"model", serving_.models()[job.request().model].name}};
  json["queue_position"] = nullptr;
  if (const auto position = serving_.queue().position(job)) json["queue_position"] = *position;
  json["stage"] = nullptr;
  if (status.state == JobState::kRunning && !status.stage.empty()) {
    json["stage"] = {{"name", status.stage}, {"done", status.stage_done}, {"total", status.stage_total}};
  }
  json["queue_ms"] = seven_digits(status.queue_ms);
  json["run_ms"] = seven_digits(status.run_ms);
  json["stages"] = stages_json(status.stages);
  json["error"] = nullptr;
  if (status.error) json["error"] = error_json(*status.error);
  json["artifacts"] = ordered_json::array();
  if (status.state != JobState::kDone) return json;
  if (const std::optional<StoredResult> result = results_.find(job.id())) {
    json.update(result->facts);
    json["artifacts"] = artifacts_json(*result);
  }
  return json;
}

bool NativeJobs::cancel_or_remove(const std::string& id) {
  const std::shared_ptr<Job> job = table_.find(id);
  if (job && !is_over(job->status().state)) {
    job->cancel();
    serving_.queue().remove(*job);
    return true;
  }
  const bool was_stored = results_.remove(id);
  table_.remove(id);
  if (!job && !was_stored) throw no_such_job();
  return false;
}

void NativeJobs::expire() {
  results_.expire(std::chrono::system_clock::now());
  table_.expire(Job::Clock::now());
}

std::shared_ptr<void> NativeJobs::take_watching_place() {
  // Each holds a thread; half of them stay for those who ask something.
  const int max_watching = std::max(1, static_cast<int>(serving_.options().http_threads / 2));
  if (num_watching_.fetch_add(1) >= max_watching) {
    --num_watching_;
    throw ApiError{503, "too_many_watchers", "all places to watch jobs are taken; ask for the job now and then instead", 5};
  }
  return {this, [](NativeJobs* jobs) { --jobs->num_watching_; }};
}

}  // namespace pointmap::server
