// Trajectories and transforms.json as known poses. See pointmap/known_inputs.h.
#include <algorithm>
#include <filesystem>
#include <string>

#include "base/check.h"
#include "geometry/pose_check.h"
#include "io/cameras/number_lines.h"
#include "io/cameras/transforms_json.h"
#include "pointmap/known_inputs.h"
#include "recon/known_text.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTumDirection =
    "wanted is camera-to-world: tx ty tz is the camera's place, the quaternion takes the camera's axes (x right, y down, z forward) to the "
    "world's";
constexpr const char* kTransformsDirection =
    "wanted is camera-to-world: the camera's place in the last column, its axes (x right, y up, z backward) in the first three";

RigidTransform require_pose(const CheckedPose& checked, const std::string& frame, const char* direction) {
  if (!checked.fault.empty()) throw Error{kCorruptData, frame + ": " + checked.fault + "; " + direction};
  return checked.pose;
}

KnownPoses poses_of_trajectory(const std::string& text, const std::string& file, const std::vector<std::string>& photos,
                               const std::vector<std::string>& listed) {
  const std::vector<NumberLine> lines = parse_number_lines(text, file, "timestamp tx ty tz qx qy qz qw");
  if (lines.size() != listed.size())
    throw Error{kCorruptData, "'" + file + "' has " + std::to_string(lines.size()) + " poses, want one for each of the " +
                                  std::to_string(listed.size()) + " photos, in their order"};
  KnownPoses poses{.of_stored_pixels = false, .source = file};
  for (const std::string& photo : photos) {
    const auto place = static_cast<size_t>(std::ranges::find(listed, photo) - listed.begin());
    POINTMAP_CHECK(place < listed.size(), "photo '" + photo + "' is none of those that the poses are for");
    const std::vector<double>& x = lines[place].values;
    const std::string frame = "'" + file + "', line " + std::to_string(lines[place].line) + ", photo '" + photo + "'";
    poses.world_from_cam.push_back(require_pose(pose_from_quaternion({x[1], x[2], x[3]}, {x[4], x[5], x[6], x[7]}), frame, kTumDirection));
  }
  return poses;
}

// How many names two paths have in common, counted from their ends. A frame without an extension may stand for a photo with one.
size_t common_names(const fs::path& frame, const fs::path& photo) {
  const std::vector<fs::path> a(frame.begin(), frame.end()), b(photo.begin(), photo.end());
  size_t count = 0;
  while (count < a.size() && count < b.size()) {
    const fs::path &x = a[a.size() - 1 - count], &y = b[b.size() - 1 - count];
    const bool is_same = x == y || (count == 0 && !x.has_extension() && x == y.stem());
    if (!is_same) break;
    ++count;
  }
  return count;
}

// The frame that shares most of its path with the photo.
const TransformsFrame& frame_of(const std::vector<TransformsFrame>& frames, const std::string& photo, const std::string& file) {
  const TransformsFrame* best = nullptr;
  const TransformsFrame* second = nullptr;
  size_t most = 0;
  for (const TransformsFrame& frame : frames) {
    const size_t common = common_names(frame.file_path, photo);
    if (common == 0 || common < most) continue;
    second = common == most ? best : nullptr;
    best = &frame;
    most = common;
  }
  if (best == nullptr) throw Error{kNotFound, "'" + file + "' has no frame for photo '" + photo + "': none has its name as 'file_path'"};
  if (second != nullptr)
    throw Error{kCorruptData, "'" + file + "' has two frames that could be photo '" + photo + "': '" + second->file_path + "' and '" +
                                  best->file_path + "'"};
  return *best;
}

KnownPoses poses_of_transforms(const std::string& text, const std::string& file, const std::vector<std::string>& photos) {
  const std::vector<TransformsFrame> frames = parse_transforms_json(text, file);
  KnownPoses poses{.of_stored_pixels = true, .source = file};
  for (const std::string& photo : photos) {
    const TransformsFrame& frame = frame_of(frames, photo, file);
    const std::string who = "'" + file + "', frame '" + frame.file_path + "'";
    RigidTransform pose = require_pose(pose_from_matrix(frame.matrix), who, kTransformsDirection);
    for (size_t row = 0; row < 3; ++row) {  // y up, z backward to y down, z forward
      pose.rotation[3 * row + 1] *= -1;
      pose.rotation[3 * row + 2] *= -1;
    }
    poses.world_from_cam.push_back(pose);
  }
  return poses;
}

}  // namespace

KnownPoses read_poses(const fs::path& file, const std::vector<std::string>& photos, const std::vector<std::string>& listed) {
  const std::string text = read_known_text(file);
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && text[first] == '{';
  return is_json ? poses_of_transforms(text, file.string(), photos) : poses_of_trajectory(text, file.string(), photos, listed);
}

}  // namespace pointmap
