#include "apps/server/native_request.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "apps/server/known_request.h"
#include "apps/server/multipart.h"

namespace pointmap::server {

namespace {

using nlohmann::json;

constexpr size_t kMaxOptionsBytes = 64 << 10;  // and this for each photo, whose lens and pose it may hold:
constexpr size_t kMaxOptionsBytesPerView = 1 << 10;
constexpr size_t kMaxFileNameBytes = 255;

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

// "npz,ply" of itself or of ["npz", "ply"].
std::string joined(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string names;
  for (const json& name : value) {
    if (!names.empty()) names.push_back(',');
    names += name.get<std::string>();
  }
  return names;
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
    const std::string names = joined(value);
    request.files.formats = parse_formats(names);
    request.all_formats = names == "all";
  } else if (field == "depth_formats") {
    request.files.depth_formats = parse_depth_formats(joined(value));
  } else if (field == "normals") {
    request.files.ply_normals = value.get<bool>();
  } else if (field == "glb_mesh") {
    request.files.glb_mesh = value.get<bool>();
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
  } else if (!take_known_option(field, value, request.options.known)) {
    throw Error{kInvalidArgument, "option '" + field +
                                      "' is not known; there are model, preset, pose, pose_mode, skip_bad, formats, depth_formats, "
                                      "normals, glb_mesh, conf_percentile, points, compress_npz, wait, intrinsics, shared_intrinsics, "
                                      "poses, baseline_metres, distance"};
  }
}

void read_options(std::string_view text, size_t max_bytes, const std::vector<ServedModel>& models, NativeRequest& request) {
  if (text.size() > max_bytes)
    throw ApiError{413, "body_too_large", "'options' has more than " + std::to_string(max_bytes) + " bytes", "options"};
  const json options = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!options.is_object()) throw ApiError{400, "bad_json", "'options' is no JSON object", "options"};
  for (const auto& [field, value] : options.items()) {
    for_field("options." + field, [&, &name = field, &given = value] {
      apply(name, given, models, request);
      return true;
    });
  }
}

Photo picture_from(const FormPart& part, std::string field) {
  const auto* bytes = reinterpret_cast<const std::byte*>(part.content.data());
  return {.name = std::move(field), .bytes = {bytes, bytes + part.content.size()}};
}

// Without folders, whoever's they are; "" when what is left is no name for a file.
std::string base_name(const std::string& file_name) {
  const std::string name = file_name.substr(file_name.find_last_of("/\\") + 1);  // npos + 1 is 0
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  const bool is_usable = name.size() <= kMaxFileNameBytes && name != "." && name != ".." && std::ranges::none_of(name, is_control);
  return is_usable ? name : "";
}

void read_picture(const FormPart& part, NativeRequest& request) {
  if (part.name == "images" || part.name == "image") {
    const std::string field = "images[" + std::to_string(request.photos.size()) + "]";
    if (part.content.empty()) throw unusable(field, "'" + field + "' is empty");
    request.photos.push_back(picture_from(part, field));
    request.file_names.push_back(base_name(part.file_name));
  } else if (part.name == "masks" || part.name == "mask") {
    std::vector<Photo>& masks = request.options.known.masks;
    const std::string field = "masks[" + std::to_string(masks.size()) + "]";
    // Empty: this photo has none.
    masks.push_back(part.content.empty() ? Photo{} : picture_from(part, field));
  } else {
    throw unusable(part.name.substr(0, 64), "parts are called 'images', 'masks' (or 'image', 'mask') and 'options'");
  }
}

// Photos that the client does not name, or names alike, are called after their fields.
void name_files(NativeRequest& request) {
  const std::vector<std::string> given = request.file_names;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].empty() || std::ranges::count(given, given[i]) > 1) request.file_names[i] = request.photos[i].name;
  }
}

void check_photos(const NativeRequest& request, const ServedModel& model, size_t max_views) {
  if (request.photos.empty()) throw ApiError{422, "missing_field", "no photos: a part 'images' for each is wanted", "images"};
  if (request.photos.size() > max_views) {
    throw ApiError{413, "too_many_views",
                   std::to_string(request.photos.size()) + " photos, at most " + std::to_string(max_views) + " are taken", "images"};
  }
  if (!model.is_vggt() && request.photos.size() != 2) {
    throw unusable("images", "'" + model.name + "' takes two photos, got " + std::to_string(request.photos.size()));
  }
}

// What would be refused after minutes of work.
void check_cameras(const NativeRequest& request, const ServedModel& model) {
  if (request.options.pose || model.is_vggt() || request.all_formats) return;
  for (const ExportFormat format : request.files.formats) {
    if (!needs_cameras(format)) continue;
    throw unusable("options.formats",
                   "format '" + std::string(export_format_name(format)) + "' needs cameras, which \"pose\": false leaves out");
  }
}

}  // namespace

NativeRequest parse_native_request(const HttpRequest& http, const std::vector<ServedModel>& models, size_t max_views) {
  NativeRequest request;
  request.options.pose = true;
  request.files.colmap_zip = true;  // artefacts have plain names, and one file is one download
  request.files.photos_beside = true;
  const std::vector<FormPart> parts = parse_multipart(http.body, http.header("content-type"), 2 * max_views + 16);
  for (const FormPart& part : parts) {
    if (part.name == "options") read_options(part.content, kMaxOptionsBytes + kMaxOptionsBytesPerView * max_views, models, request);
  }
  for (const FormPart& part : parts) {
    if (part.name != "options") read_picture(part, request);
  }
  const ServedModel& model = models[request.model];
  check_photos(request, model, max_views);
  check_cameras(request, model);
  require_known_inputs(request.options.known, request.photos);
  name_files(request);
  return request;
}

}  // namespace pointmap::server
