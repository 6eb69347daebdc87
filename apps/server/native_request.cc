#include "apps/server/native_request.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "apps/server/multipart.h"

namespace pointmap::server {

namespace {

using nlohmann::json;

constexpr size_t kMaxOptionsBytes = 64 << 10;

ApiError unusable(const std::string& field, const std::string& message) {
  return {422, "invalid_argument", message, field};
}

// The library says what is wrong with a word; we say which field it was.
template <typename Function>
auto for_field(const std::string& field, const Function& function) {
  try {
    return function();
  } catch (const Error& error) {
    throw unusable(field, error.what());
  } catch (const json::exception&) {
    throw unusable(field, "'" + field + "' has a value of another type");
  }
}

std::set<ExportFormat> formats_of(const json& value) {
  std::string names;
  if (value.is_string()) {
    names = value.get<std::string>();
  } else {
    for (const json& name : value) {
      if (!names.empty()) names.push_back(',');
      names += name.get<std::string>();
    }
  }
  const std::set<ExportFormat> formats = parse_formats(names);
  // Its files lie in folders, artefacts have plain names.
  if (formats.contains(ExportFormat::kColmap)) throw Error{kUnsupported, "colmap is written by pointmap reconstruct, not by the server"};
  return formats;
}

void apply(const std::string& field, const json& value, const std::vector<ServedModel>& models, NativeRequest& request) {
  if (field == "model") {
    request.model = find_model(models, value.get<std::string>());
  } else if (field == "preset") {
    request.options.preset = value.get<std::string>();
  } else if (field == "pose") {
    request.options.pose = value.get<bool>();
  } else if (field == "pose_mode") {
    request.options.pose_mode = parse_pose_mode(value.get<std::string>());
  } else if (field == "skip_bad") {
    request.options.skip_bad = value.get<bool>();
  } else if (field == "formats") {
    request.files.formats = formats_of(value);
  } else if (field == "conf_percentile") {
    request.files.filter.percentile = value.get<double>();
    if (!(request.files.filter.percentile >= 0 && request.files.filter.percentile <= 100))
      throw Error{kInvalidArgument, "conf_percentile must be 0 to 100"};
  } else if (field == "points") {
    request.files.points = parse_point_source(value.get<std::string>());
  } else if (field == "compress_npz") {
    request.files.npz_deflate_level = value.get<bool>() ? 1 : 0;
  } else if (field == "wait") {
    request.wait = value.get<bool>();
  } else {
    throw Error{
        kInvalidArgument,
        "option '" + field +
            "' is not known; there are model, preset, pose, pose_mode, skip_bad, formats, conf_percentile, points, compress_npz, wait"};
  }
}

void read_options(std::string_view text, const std::vector<ServedModel>& models, NativeRequest& request) {
  if (text.size() > kMaxOptionsBytes) throw ApiError{413, "body_too_large", "'options' has more than 65536 bytes", "options"};
  const json options = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!options.is_object()) throw ApiError{400, "bad_json", "'options' is no JSON object", "options"};
  for (const auto& [field, value] : options.items()) {
    for_field("options." + field, [&, &name = field, &given = value] {
      apply(name, given, models, request);
      return true;
    });
  }
}

}  // namespace

NativeRequest parse_native_request(const HttpRequest& http, const std::vector<ServedModel>& models, size_t max_views) {
  NativeRequest request;
  request.options.pose = true;
  const std::vector<FormPart> parts = parse_multipart(http.body, http.header("content-type"), max_views + 16);
  for (const FormPart& part : parts) {
    if (part.name == "options") read_options(part.content, models, request);
  }
  for (const FormPart& part : parts) {
    if (part.name == "options") continue;
    const std::string field = "images[" + std::to_string(request.photos.size()) + "]";
    if (part.name != "images" && part.name != "image") {
      throw unusable(part.name.substr(0, 64), "parts are called 'images' (or 'image') and 'options'");
    }
    if (part.content.empty()) throw unusable(field, "'" + field + "' is empty");
    const auto* bytes = reinterpret_cast<const std::byte*>(part.content.data());
    request.photos.push_back({.name = field, .bytes = {bytes, bytes + part.content.size()}});
  }
  if (request.photos.empty()) throw ApiError{422, "missing_field", "no photos: a part 'images' for each is wanted", "images"};
  if (request.photos.size() > max_views) {
    throw ApiError{413, "too_many_views",
                   std::to_string(request.photos.size()) + " photos, at most " + std::to_string(max_views) + " are taken", "images"};
  }
  const ServedModel& model = models[request.model];
  if (!model.is_vggt() && request.photos.size() != 2) {
    throw unusable("images", "'" + model.name + "' takes two photos, got " + std::to_string(request.photos.size()));
  }
  return request;
}

}  // namespace pointmap::server
