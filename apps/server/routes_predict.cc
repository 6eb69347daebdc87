// The seeds' contract: POST /predict (JSON out) and /predict_npz (the archive itself, the rest in a header).
#include <chrono>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/server/predict_request.h"
#include "apps/server/predict_response.h"
#include "apps/server/routes.h"
#include "apps/server/text.h"
#include "pointmap/encode.h"

namespace pointmap::server {

namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::ordered_json;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Prediction {
  PredictRequest request;
  Reconstruction run;
  double queue_ms = 0;
};

Prediction predict(const HttpRequest& http, Serving& serving, bool png_is_possible) {
  serving.require_ready();  // before photos are decoded in vain
  const ServerOptions& options = serving.options();
  Prediction result{.request = parse_predict_request(http, serving.models(), {options.max_views, options.compress_npz}), .run = {}};
  if (result.request.wants_png && !png_is_possible) {
    throw ApiError{422, "invalid_argument", "/predict_npz answers with npz; /predict has png", "output_format"};
  }
  JobRequest job;
  job.model = result.request.model;
  job.photos = std::move(result.request.photos);
  job.client = http.client;
  job.options.preset = result.request.preset;
  job.options.pose = result.request.return_pose;
  job.options.max_pixels = options.max_pixels;
  const std::shared_ptr<Job> done = serving.run(std::move(job));
  result.queue_ms = done->status().queue_ms;
  result.run = done->take_result();
  return result;
}

// Everything but the arrays, on a thread of its own: both parts of the answer read all of the maps and take about as long.
std::future<ordered_json> start_facts(const Prediction& prediction, const ServedModel& model) {
  return std::async(std::launch::async, [&] { return predict_facts(prediction.run, model, prediction.request.return_pose); });
}

// Call when the arrays are encoded, for their time.
ordered_json with_timing(ordered_json facts, const Prediction& prediction, const HttpRequest& http, Clock::time_point encode_started) {
  ordered_json timing = predict_timing(prediction.run.report.stages, prediction.request.decode_ms);
  timing["encode"] = seven_digits(ms_since(encode_started));
  timing["queue"] = seven_digits(prediction.queue_ms);
  timing["total"] = seven_digits(ms_since(http.started));
  facts["timing_ms"] = std::move(timing);
  facts["request_id"] = http.request_id;
  return facts;
}

// `"name":"<base64>",`
void append_base64_field(const std::string& name, const std::string& bytes, std::string& json) {
  json.reserve(json.size() + bytes.size() / 3 * 4 + 4096);
  json += "\"" + name + "\":\"";
  encode_base64(bytes, json);
  json += "\",";
}

HttpResponse answer_json(const HttpRequest& http, Serving& serving) {
  const Prediction prediction = predict(http, serving, /*png_is_possible=*/true);
  const ServedModel& model = serving.models()[prediction.request.model];
  const auto encode_started = Clock::now();
  std::future<ordered_json> started_facts = start_facts(prediction, model);
  // The large fields are written by hand: a JSON library would look at each of their characters for something to escape.
  HttpResponse response;
  response.body.push_back('{');
  ordered_json scales;
  if (prediction.request.wants_png) {
    for (const NamedPng& picture : predict_pngs(prediction.run.scene, model)) {
      append_base64_field(picture.name + "_png_b64", picture.png, response.body);
      scales[picture.name] = picture.scale;
    }
  } else {
    append_base64_field("npz_b64", predict_npz(prediction.run.scene, model, prediction.request.compress_npz), response.body);
  }
  ordered_json facts = with_timing(started_facts.get(), prediction, http, encode_started);
  if (!scales.empty()) facts["png_scale"] = std::move(scales);
  response.body += text_of(facts).substr(1);
  return response;
}

HttpResponse answer_npz(const HttpRequest& http, Serving& serving) {
  const auto owned = std::make_shared<const Prediction>(predict(http, serving, /*png_is_possible=*/false));
  const Prediction& prediction = *owned;
  const ServedModel& model = serving.models()[prediction.request.model];
  const auto encode_started = Clock::now();
  std::future<ordered_json> started_facts = start_facts(prediction, model);
  HttpResponse response;
  response.content_type = "application/x-npz";
  if (prediction.request.compress_npz) {
    response.body = predict_npz(prediction.run.scene, model, /*compress=*/true);
  } else {
    NpzPieces npz = predict_npz_in_pieces(prediction.run.scene, model);
    response.pieces = std::move(npz.in_order);
    response.pieces_memory = std::move(npz.memory);
    response.pieces_memory.push_back(owned);
  }
  const ordered_json facts = with_timing(started_facts.get(), prediction, http, encode_started);
  response.headers.emplace_back("X-Pointmap-Meta", text_of(facts, /*ascii_only=*/true));
  return response;
}

}  // namespace

void add_predict_routes(Router& router, Serving& serving) {
  router.add({"POST", "/predict", [&serving](const HttpRequest& request) { return answer_json(request, serving); }});
  router.add({"POST", "/predict_npz", [&serving](const HttpRequest& request) { return answer_npz(request, serving); }});
}

}  // namespace pointmap::server
