#include "apps/server/predict_request.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "apps/server/base64.h"
#include "apps/server/json_body.h"

namespace pointmap::server {

namespace {

// Straight into what the decoder of photos reads.
Photo photo_from(std::string_view base64, std::string field) {
  std::optional<std::vector<std::byte>> bytes = decode_base64(base64);
  if (!bytes) throw ApiError{422, "bad_base64", "'" + field + "' is no base64", field};
  if (bytes->empty()) throw ApiError{422, "invalid_argument", "'" + field + "' is empty", field};
  return {.name = std::move(field), .bytes = std::move(*bytes)};
}

std::vector<Photo> photos_from(const JsonBody& json, size_t max_views) {
  std::vector<Photo> photos;
  if (const auto images = json.array("images")) {
    if (json.text("image1") || json.text("image2")) {
      throw ApiError{422, "invalid_argument", "give either 'images' or 'image1' and 'image2'", "images"};
    }
    if (images->size() > max_views) {
      throw ApiError{413, "too_many_views",
                     "'images' has " + std::to_string(images->size()) + " photos, at most " + std::to_string(max_views) + " are taken",
                     "images"};
    }
    for (const simdjson::dom::element image : *images) {
      std::string field = "images[" + std::to_string(photos.size()) + "]";
      std::string_view text;
      if (image.get(text) != simdjson::SUCCESS) throw ApiError{422, "invalid_argument", "'" + field + "' must be a string", field};
      photos.push_back(photo_from(text, std::move(field)));
    }
    return photos;
  }
  for (const char* field : {"image1", "image2"}) {
    if (const auto text = json.text(field)) photos.push_back(photo_from(*text, field));
  }
  return photos;
}

void check_count(const std::vector<Photo>& photos, const ServedModel& model) {
  if (photos.empty()) {
    const char* field = model.is_vggt() ? "images" : "image1";
    throw ApiError{422, "missing_field", std::string("'") + field + "' is missing", field};
  }
  if (model.is_vggt() || photos.size() == 2) return;
  const std::string field = photos[0].name == "image1" ? "image2" : photos[0].name == "image2" ? "image1" : "images";
  throw ApiError{422, "invalid_argument", "'" + model.name + "' takes two photos, got " + std::to_string(photos.size()), field};
}

std::string preset_from(const JsonBody& json, const ServedModel& model) {
  const std::string word(json.text("preprocess").value_or("pad"));
  if (word == "pad") return model.pad_preset();
  constexpr std::array<std::string_view, 4> kDust3r = {"keep", "dust3r", "dust3r224", "pad512"};
  constexpr std::array<std::string_view, 4> kVggt = {"keep", "vggt_crop", "vggt_pad", "pad518"};
  std::string names = "pad";
  for (const std::string_view preset : model.is_vggt() ? kVggt : kDust3r) {
    if (preset == word) return word;
    names += ", " + std::string(preset);
  }
  throw ApiError{422, "invalid_argument", "preprocess '" + word + "' is not known for this model; want one of " + names, "preprocess"};
}

bool wants_png(const JsonBody& json) {
  const std::string_view format = json.text("output_format").value_or("npz");
  if (format == "npz" || format == "png") return format == "png";
  throw ApiError{422, "invalid_argument", "output_format '" + std::string(format) + "' is not known; want npz or png", "output_format"};
}

}  // namespace

PredictRequest parse_predict_request(const HttpRequest& request, const std::vector<ServedModel>& models, const PredictLimits& limits) {
  const auto started = std::chrono::steady_clock::now();
  const JsonBody json(request);
  PredictRequest result;
  // Everything small first: a photo is decoded only when all else will do.
  result.model = find_model(models, std::string(json.text("model").value_or("")));
  const ServedModel& model = models[result.model];
  result.wants_png = wants_png(json);
  result.return_pose = json.boolean("return_pose").value_or(false);
  result.compress_npz = json.boolean("compress_npz").value_or(limits.compress_npz);
  result.preset = preset_from(json, model);
  result.photos = photos_from(json, limits.max_views);
  check_count(result.photos, model);
  result.decode_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
  return result;
}

}  // namespace pointmap::server
