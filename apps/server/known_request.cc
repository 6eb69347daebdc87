#include "apps/server/known_request.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "apps/server/api_error.h"

namespace pointmap::server {

namespace {

using nlohmann::json;

Error unusable(const std::string& message) {
  return Error{kInvalidArgument, message};
}

double number_of(const json& value, const std::string& what) {
  if (!value.is_number()) throw unusable(what + " must be a number");
  return value.get<double>();
}

Intrinsics lens_of(const json& value) {
  if (!value.is_array() || value.size() != 4) throw unusable("a lens is a list of four numbers, [fx, fy, cx, cy]");
  return {number_of(value[0], "fx"), number_of(value[1], "fy"), number_of(value[2], "cx"), number_of(value[3], "cy")};
}

// One lens for all photos, or a list of them.
std::vector<Intrinsics> lenses_of(const json& value) {
  if (!value.is_array() || value.empty()) throw unusable("want [fx, fy, cx, cy], or a list of these, one for each photo");
  if (!value[0].is_array()) return {lens_of(value)};
  std::vector<Intrinsics> lenses;
  for (const json& lens : value) lenses.push_back(lens_of(lens));
  return lenses;
}

// 4x4, or its upper three rows.
RigidTransform pose_of(const json& rows) {
  const auto is_row = [](const json& row) { return row.is_array() && row.size() == 4; };
  if (!rows.is_array() || (rows.size() != 3 && rows.size() != 4) || !std::ranges::all_of(rows, is_row))
    throw unusable("a pose is a matrix of 4 rows of 4 numbers, camera-to-world");
  RigidTransform pose;
  for (size_t r = 0; r < 3; ++r) {
    for (size_t c = 0; c < 3; ++c) pose.rotation[3 * r + c] = number_of(rows[r][c], "an element of a pose");
    pose.translation[r] = number_of(rows[r][3], "an element of a pose");
  }
  if (rows.size() == 4 && rows[3] != json{0, 0, 0, 1}) throw unusable("the last row of a pose must be 0 0 0 1; wanted is camera-to-world");
  return pose;
}

KnownPoses poses_of(const json& value) {
  if (!value.is_array() || value.empty()) throw unusable("want a list of matrices, one for each photo");
  KnownPoses poses{.source = "the request"};
  for (const json& pose : value) poses.world_from_cam.push_back(pose_of(pose));
  return poses;
}

// Refuses what is not one of `names`, so that a name that is misspelt does not read as one that was left out.
void require_object(const json& value, const std::string& what, const std::vector<std::string>& names) {
  std::string wanted;
  for (const std::string& name : names) wanted += (wanted.empty() ? "" : ", ") + name;
  const bool has_all = value.is_object() && std::ranges::all_of(names, [&](const std::string& name) { return value.contains(name); });
  if (!has_all || value.size() != names.size()) throw unusable(what + " is an object with " + wanted);
}

PhotoPoint point_of(const json& value, const std::string& what) {
  require_object(value, what, {"photo", "x", "y"});
  const json& photo = value["photo"];
  if (!photo.is_number_unsigned()) throw unusable(what + ".photo must be the place of a photo, counted from 0");
  return {.photo = photo.get<size_t>(), .pixel = {number_of(value["x"], what + ".x"), number_of(value["y"], what + ".y")}};
}

KnownDistance distance_of(const json& value) {
  require_object(value, "distance", {"from", "to", "metres"});
  return {.from = point_of(value["from"], "from"), .to = point_of(value["to"], "to"), .metres = number_of(value["metres"], "metres")};
}

// Lets the library say what is wrong with `part`, which holds what `field` says and nothing else.
void require(const std::string& field, const KnownInputs& part, const std::vector<Photo>& photos) {
  try {
    check_known_inputs(part, photos);
  } catch (const Error& error) {
    throw ApiError{422, "invalid_argument", error.what(), field};
  }
}

}  // namespace

bool take_known_option(const std::string& field, const json& value, KnownInputs& known) {
  if (field == "intrinsics") {
    known.intrinsics = lenses_of(value);
  } else if (field == "shared_intrinsics") {
    known.shared_intrinsics = value.get<bool>();
  } else if (field == "poses") {
    known.poses = poses_of(value);
  } else if (field == "baseline_metres") {
    known.baseline_metres = number_of(value, field);
  } else if (field == "distance") {
    known.distance = distance_of(value);
  } else {
    return false;
  }
  return true;
}

void require_known_inputs(const KnownInputs& known, const std::vector<Photo>& photos) {
  require("options.intrinsics", {.intrinsics = known.intrinsics}, photos);
  require("masks", {.masks = known.masks}, photos);
  require("options.poses", {.poses = known.poses}, photos);
  require("options.baseline_metres", {.baseline_metres = known.baseline_metres}, photos);
  require("options.distance", {.distance = known.distance}, photos);
  require("options", known, photos);  // what does not go together
}

std::string known_field_of(const std::string& message) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kFields = {{
      {"one set of intrinsics ", "options.intrinsics"},
      {"shared intrinsics ", "options.shared_intrinsics"},
      {"known poses ", "options.poses"},
      {"the baseline ", "options.baseline_metres"},
      {"the distance ", "options.distance"},
      {"distance: ", "options.distance"},
      {"known or shared intrinsics, ", "options.pose"},
  }};
  for (const auto& [beginning, field] : kFields) {
    if (message.starts_with(beginning)) return std::string(field);
  }
  constexpr std::string_view kMask = "mask '";
  if (!message.starts_with(kMask)) return "";
  return message.substr(kMask.size(), message.find('\'', kMask.size()) - kMask.size());
}

}  // namespace pointmap::server
