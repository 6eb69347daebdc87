// Evaluations as text for people and as JSON for programs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "eval/metric_table.h"
#include "eval/pair_errors.h"

namespace pointmap {
namespace {

using nlohmann::ordered_json;

constexpr size_t kCellWidth = 10;

std::string padded(const std::string& text, size_t width, bool right) {
  const std::string space(text.size() < width ? width - text.size() : 0, ' ');
  return right ? space + text : text + space;
}

std::string cell(double value, int decimals) {
  if (std::isnan(value)) return padded("-", kCellWidth, true);
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", decimals, value);
  return padded(text, kCellWidth, true);
}

std::string row(const std::string& title, size_t title_width, const EvalMetrics& errors) {
  std::string line = padded(title, title_width, false);
  for (const EvalMetricName& metric : kEvalMetrics) line += cell(errors.*metric.member, metric.decimals);
  return line + "\n";
}

std::string headings(const std::string& title, size_t title_width) {
  std::string line = padded(title, title_width, false);
  for (const EvalMetricName& metric : kEvalMetrics) line += padded(metric.heading, kCellWidth, true);
  return line + "\n";
}

std::string summary(const char* what, size_t title_width, const EvalResult& result, const EvalRows& rows) {
  const size_t count = result.scenes.size();
  const std::string title = std::string(what) + " of " + std::to_string(count) + (count == 1 ? " scene" : " scenes");
  std::string text = "\n";
  text += headings(title, title_width);
  for (const EvalRowName& name : kEvalRows) {
    const EvalMetrics& errors = rows.*name.member;
    const bool any = std::ranges::any_of(kEvalMetrics, [&](const EvalMetricName& m) { return !std::isnan(errors.*m.member); });
    if (any) text += row(name.heading, title_width, errors);
  }
  return text;
}

ordered_json number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json rows_json(const EvalRows& rows) {
  ordered_json json;
  for (const EvalRowName& name : kEvalRows) {
    ordered_json errors;
    for (const EvalMetricName& metric : kEvalMetrics) errors[metric.key] = number(rows.*name.member.*metric.member);
    json[name.key] = std::move(errors);
  }
  return json;
}

}  // namespace

std::string to_table(const EvalResult& result) {
  size_t title_width = 24;
  for (const EvalScene& scene : result.scenes) title_width = std::max(title_width, scene.folder.size());
  std::string text = headings("scene", title_width);
  for (const EvalScene& scene : result.scenes) text += row(scene.folder, title_width, scene.errors.model);
  text += summary("median", title_width, result, result.median);
  text += summary("mean", title_width, result, result.mean);
  size_t num_without_pose = 0;
  std::vector<double> times;
  for (const EvalScene& scene : result.scenes) {
    num_without_pose += scene.pose_status == "failed" ? 1 : 0;
    times.push_back(scene.run_ms);
  }
  char line[160];
  std::snprintf(line, sizeof(line), "\nno camera found in %zu of %zu scenes; %.0f ms a pair (median)\n", num_without_pose,
                result.scenes.size(), median_of(std::move(times)));
  return text + line;
}

std::string to_json(const EvalResult& result) {
  ordered_json scenes = ordered_json::array();
  for (const EvalScene& scene : result.scenes) {
    scenes.push_back({{"folder", scene.folder},
                      {"pixels", scene.num_pixels},
                      {"scale", number(scene.scale)},
                      {"pose_status", scene.pose_status},
                      {"run_ms", scene.run_ms},
                      {"errors", rows_json(scene.errors)}});
  }
  const ordered_json json = {{"format", "pointmap-eval"},
                             {"version", 1},
                             {"model", result.model},
                             {"model_hash", result.model_hash},
                             {"preset", result.preset},
                             {"num_scenes", result.scenes.size()},
                             {"median", rows_json(result.median)},
                             {"mean", rows_json(result.mean)},
                             {"scenes", scenes}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace pointmap
