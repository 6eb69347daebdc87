#include "recon/known_poses.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "geometry/align_points.h"
#include "geometry/rigid_transform.h"
#include "geometry/view_transform.h"
#include "recon/known_scale.h"

namespace pointmap {
namespace {

constexpr double kStrangeTurnDeg = 10;       // between a known camera and the one found, relative to the first view: worth a word
constexpr double kStrangeDirectionDeg = 30;  // the same for the way from the first camera

// A view's camera twice, each in the frame of the first view's.
struct CameraPair {
  size_t view = 0;
  RigidTransform known;
  RigidTransform found;
};

std::vector<CameraPair> camera_pairs(const Scene& scene, const KnownPoses& poses) {
  std::vector<CameraPair> pairs;
  for (size_t v = 0; v < scene.views.size(); ++v) {
    const SceneView& view = scene.views[v];
    if (view.status != "ok") continue;
    RigidTransform known = poses.world_from_cam[v];
    if (poses.of_stored_pixels) known = compose(known, stored_from_oriented_cam(view.transform));
    pairs.push_back({.view = v, .known = known, .found = view.camera->world_from_cam});
  }
  const RigidTransform known_first = inverse(pairs[0].known), found_first = inverse(pairs[0].found);
  for (CameraPair& pair : pairs) {
    pair.known = compose(known_first, pair.known);
    pair.found = compose(found_first, pair.found);
  }
  pairs[0].known = pairs[0].found = {};
  return pairs;
}

double length_of(const Point3& p) {
  return std::hypot(p[0], p[1], p[2]);
}

// Root of the mean squared distance of cameras from their middle.
double spread_of(const std::vector<CameraPair>& pairs, RigidTransform CameraPair::*which) {
  Point3 mean = {};
  for (const CameraPair& pair : pairs) {
    for (size_t c = 0; c < 3; ++c) mean[c] += (pair.*which).translation[c] / static_cast<double>(pairs.size());
  }
  double sum = 0;
  for (const CameraPair& pair : pairs) {
    for (size_t c = 0; c < 3; ++c) sum += std::pow((pair.*which).translation[c] - mean[c], 2);
  }
  return std::sqrt(sum / static_cast<double>(pairs.size()));
}

double angle_deg(const Point3& a, const Point3& b) {
  const double lengths = length_of(a) * length_of(b);
  if (!(lengths > 0)) return 0;
  return std::acos(std::clamp((a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / lengths, -1.0, 1.0)) * 180 / std::numbers::pi;
}

// The greatest disagreement of any view.
struct Disagreement {
  double turn_deg = 0;
  double direction_deg = 0;
  size_t view = 0;

  bool is_strange() const { return turn_deg > kStrangeTurnDeg || direction_deg > kStrangeDirectionDeg; }
};

Disagreement disagreement_of(const std::vector<CameraPair>& pairs) {
  Disagreement worst;
  for (const CameraPair& pair : pairs) {
    const double turn = rotation_angle_deg(compose(inverse(pair.known), pair.found));
    const double direction = angle_deg(pair.known.translation, pair.found.translation);
    if (turn + direction > worst.turn_deg + worst.direction_deg) worst = {turn, direction, pair.view};
  }
  return worst;
}

// What was meant if the poses are world-to-camera. had_opengl_axes: they came with axes y up and z backward, and two columns of each were
// negated as if they were the camera's.
KnownPoses turned_round(KnownPoses poses, bool had_opengl_axes) {
  const RigidTransform flip = {.rotation = {1, 0, 0, 0, -1, 0, 0, 0, -1}, .translation = {}};
  for (RigidTransform& pose : poses.world_from_cam) {
    pose = inverse(pose);
    if (had_opengl_axes) pose = compose(compose(flip, pose), flip);
  }
  return poses;
}

void note_disagreement(const Scene& scene, const KnownPoses& poses, const std::vector<CameraPair>& pairs, RunReport& report) {
  const Disagreement worst = disagreement_of(pairs);
  if (!worst.is_strange()) return;
  std::string note = "known poses: the network found view " + std::to_string(worst.view + 1) + " turned by " +
                     std::to_string(std::lround(worst.turn_deg)) + " degrees against its known camera, and in a direction " +
                     std::to_string(std::lround(worst.direction_deg)) + " degrees off, both as seen from the first view";
  for (const bool had_opengl_axes : {false, true}) {
    const Disagreement other = disagreement_of(camera_pairs(scene, turned_round(poses, had_opengl_axes)));
    if (other.turn_deg + other.direction_deg > 0.5 * (worst.turn_deg + worst.direction_deg)) continue;
    note += "; their inverses agree better: are they world-to-camera? Wanted is camera-to-world";
    break;
  }
  report.notes.push_back(note);
}

// Puts the view behind its known camera, its points where they are before the camera that was found, `scale` times as far.
void move_view(SceneView& view, const RigidTransform& known, double scale) {
  const RigidTransform cam_from_world = inverse(view.camera->world_from_cam);
  for (size_t p = 0; p < view.points.size(); p += 3) {
    Point3 in_cam = transform_point(cam_from_world, {view.points[p], view.points[p + 1], view.points[p + 2]});
    for (double& x : in_cam) x *= scale;
    const Point3 in_world = transform_point(known, in_cam);
    for (size_t c = 0; c < 3; ++c) view.points[p + c] = static_cast<float>(in_world[c]);
  }
  for (float& depth : view.depth) depth = static_cast<float>(depth * scale);
  view.camera->world_from_cam = known;
  view.camera->pose_known = true;
}

// Why the cameras that the network found say no scale; empty when they do.
std::string failure_of(const Scene& scene, const std::vector<CameraPair>& pairs, double found_spread, const RunReport& report) {
  if (report.pose && report.pose->status == "failed") return "no second camera was found";
  if (!std::isfinite(found_spread)) return "the network's cameras are not finite";
  if (!(found_spread > kMinBaselineShare * median_depth(scene.views[pairs[0].view])))
    return "as far as the network can tell, all cameras stand in one place";
  return "";
}

}  // namespace

void apply_known_poses(Scene& scene, const KnownPoses& poses, RunReport& report) {
  if (poses.world_from_cam.empty()) return;
  const std::vector<CameraPair> pairs = camera_pairs(scene, poses);
  const double known_spread = spread_of(pairs, &CameraPair::known), found_spread = spread_of(pairs, &CameraPair::found);
  KnownReport& known = report.known;
  known.scale_from = "poses";
  const bool is_one_place = !(known_spread > 0);
  const std::string failure = is_one_place ? "" : failure_of(scene, pairs, found_spread, report);
  if (is_one_place) known.scale_reason = "the known cameras all stand in one place, so they say no scale";
  if (!failure.empty()) known.scale_reason = "the known poses were not used: " + failure;
  known.scale_status = known.scale_reason.empty() ? "ok" : "failed";
  if (!known.scale_reason.empty()) report.notes.push_back(known.scale_reason);
  if (!failure.empty()) return;

  note_disagreement(scene, poses, pairs, report);
  if (report.pose && report.pose->status == "doubtful")
    report.notes.push_back("the scale rests on the second camera as it was found, which is in doubt");
  if (!is_one_place) {
    known.scale_factor = known_spread / found_spread;
    scene.scale = {.is_metric = true, .source = "known poses from " + poses.source};
  }
  for (const CameraPair& pair : pairs) move_view(scene.views[pair.view], pair.known, known.scale_factor);
  known.num_poses = pairs.size();
  scene.world = WorldFrame::kFirstCamera;
}

}  // namespace pointmap
