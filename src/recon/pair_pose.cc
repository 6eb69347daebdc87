#include "recon/pair_pose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "geometry/align_points.h"
#include "geometry/pinhole.h"
#include "geometry/pnp.h"
#include "geometry/view_transform.h"
#include "scene/confidence_filter.h"
#include "scene/shown_points.h"

namespace pointmap {
namespace {

constexpr float kMinConfidence = 3;             // raw, as upstream
constexpr double kMinConfidentFraction = 0.01;  // of a view's pixels; with fewer above kMinConfidence the more confident half is asked
constexpr double kDoubtfulInliers = 0.1;        // of the points asked: below, the pose is in doubt

// One view of the pair, as both passes saw it.
struct PairView {
  int width = 0;
  int height = 0;
  std::span<const float> own;       // [H, W, 3] in its own camera frame
  std::span<const float> in_other;  // [H, W, 3] in the other's camera frame; empty when nobody asked
  std::vector<float> confidence;    // [H, W], the higher of both passes
  std::vector<uint8_t> valid;       // [H, W], 0 in the padding; empty: all
  Intrinsics intrinsics;

  size_t num_pixels() const { return confidence.size(); }
};

// Of a flat index into a map.
Pixel pixel_at(size_t index, int width) {
  const size_t row = index / static_cast<size_t>(width);
  const size_t column = index % static_cast<size_t>(width);
  return {static_cast<double>(column), static_cast<double>(row)};
}

void check_map(const char* what, size_t num_coordinates, size_t num_confidences, const SceneView& view) {
  const size_t pixels = static_cast<size_t>(view.image.width) * static_cast<size_t>(view.image.height);
  POINTMAP_CHECK(pixels > 0 && num_coordinates == 3 * pixels && num_confidences == pixels,
                 "pose: " + std::string(what) + " of '" + view.source + "' has " + std::to_string(num_coordinates) + " coordinates and " +
                     std::to_string(num_confidences) + " confidences, the picture has " + std::to_string(pixels) + " pixels");
}

void check_pair(const Scene& scene, const SwappedPass& swapped, PoseMode mode) {
  POINTMAP_CHECK(scene.views.size() == 2, "pose of a pair, got " + std::to_string(scene.views.size()) + " views");
  for (const SceneView& view : scene.views) check_map("the pointmap", view.points.size(), view.confidence.size(), view);
  check_map("the exchanged pass's pointmap", swapped.second.points.size(), swapped.second.confidence.size(), scene.views[1]);
  if (needs_fourth_map(mode)) {
    check_map("the exchanged pass's pointmap", swapped.first.points.size(), swapped.first.confidence.size(), scene.views[0]);
  }
}

std::vector<float> higher_of(const std::vector<float>& a, const std::vector<float>& b) {
  if (b.empty()) return a;
  std::vector<float> higher(a.size());
  std::ranges::transform(a, b, higher.begin(), [](float x, float y) { return std::max(x, y); });
  return higher;
}

std::array<PairView, 2> views_of(const Scene& scene, const SwappedPass& swapped, PoseMode mode) {
  std::array<PairView, 2> views;
  for (size_t v = 0; v < 2; ++v) {
    const SceneView& view = scene.views[v];
    views[v].width = view.image.width;
    views[v].height = view.image.height;
    views[v].own = v == 0 ? view.points : swapped.second.points;
    views[v].in_other = v == 0 ? swapped.first.points : view.points;
    views[v].confidence = higher_of(view.confidence, v == 0 ? swapped.first.confidence : swapped.second.confidence);
    // Upstream has no padding, and looks at every pixel that nobody masked.
    if (mode != PoseMode::kUpstream || !view.mask.empty()) views[v].valid = valid_mask(view);
  }
  return views;
}

LensInput lens_input(const PairView& view, const SceneView& scene_view) {
  return {.own = {.points = view.own, .valid = view.valid, .width = view.width, .height = view.height}, .transform = scene_view.transform};
}

double mean(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Whether upstream would take the camera of view 2 for the world, because the pass with the views exchanged is the more confident one.
bool prefers_exchanged(const Scene& scene, const SwappedPass& swapped) {
  const double score = mean(scene.views[0].confidence) * mean(scene.views[1].confidence);
  const double exchanged_score = mean(swapped.second.confidence) * mean(swapped.first.confidence);
  return !(score > exchanged_score);
}

// Pixels that show the photo and whose points are finite, in row-major order.
std::vector<uint32_t> usable_pixels(const PairView& view) {
  std::vector<uint32_t> usable;
  for (uint32_t p = 0; p < view.num_pixels(); ++p) {
    const float* point = &view.in_other[3 * size_t{p}];
    const bool is_finite = std::isfinite(point[0]) && std::isfinite(point[1]) && std::isfinite(point[2]);
    if (is_finite && !std::isnan(view.confidence[p]) && (view.valid.empty() || view.valid[p] != 0)) usable.push_back(p);
  }
  return usable;
}

// Of these the ones that PnP is asked about.
std::vector<uint32_t> confident_pixels(const PairView& view, PoseMode mode, PoseReport& report) {
  std::vector<uint32_t> usable = usable_pixels(view);
  std::vector<uint32_t> confident;
  std::ranges::copy_if(usable, std::back_inserter(confident), [&](uint32_t p) { return view.confidence[p] > kMinConfidence; });
  const bool are_enough = static_cast<double>(confident.size()) >= kMinConfidentFraction * static_cast<double>(usable.size());
  if (mode == PoseMode::kUpstream || usable.empty() || (are_enough && !confident.empty())) return confident;

  report.notes.push_back("only " + std::to_string(confident.size()) + " of " + std::to_string(usable.size()) +
                         " points have a confidence above 3: the camera was sought from the more confident half");
  std::vector<float> sorted;
  sorted.reserve(usable.size());
  for (const uint32_t p : usable) sorted.push_back(view.confidence[p]);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  std::erase_if(usable, [&](uint32_t p) { return view.confidence[p] < *middle; });
  return usable;
}

PnpPoints points_to_ask(const PairView& view, const std::vector<uint32_t>& pixels) {
  PnpPoints points;
  points.points.reserve(pixels.size());
  points.pixels.reserve(pixels.size());
  for (const uint32_t p : pixels) points.add(view.in_other, p, view.width);
  return points;
}

size_t count_inliers(const PairView& view, const std::vector<uint32_t>& pixels, const RigidTransform& cam_from_points) {
  size_t count = 0;
  for (const uint32_t p : pixels) {
    const float* point = &view.in_other[3 * size_t{p}];
    const Point3 in_cam = transform_point(cam_from_points, {point[0], point[1], point[2]});
    if (!(in_cam[2] > 0)) continue;
    const Pixel seen_at = project(view.intrinsics, in_cam);
    const Pixel pixel = pixel_at(p, view.width);
    count += std::hypot(seen_at.u - pixel.u, seen_at.v - pixel.v) <= static_cast<double>(PnpOptions{}.max_error_px) ? 1 : 0;
  }
  return count;
}

// PoseMode::kAligned. Both views' points are in both frames, once from each pass; where the second camera stands is a matter of the scale
// of the first pass, so only the rotation is averaged.
PnpSolution align_views(const std::array<PairView, 2>& views, const std::vector<uint32_t>& pixels) {
  const PointMoments second = moments_of(views[1].own, views[1].in_other, views[1].valid);
  const PointMoments first = moments_of(views[0].own, views[0].in_other, views[0].valid);
  constexpr size_t kMinPoints = 3;
  PnpSolution solution;
  if (first.count < kMinPoints || second.count < kMinPoints) {
    solution.failure = "fewer than 3 points are in both frames";
    return solution;
  }
  const std::array<double, 9> cam1_from_cam2 = nearest_rotation(second.covariance);
  const std::array<double, 9> cam2_from_cam1 = nearest_rotation(first.covariance);
  std::array<double, 9> sum = cam1_from_cam2;
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column) sum[3 * row + column] += cam2_from_cam1[3 * column + row];
  }
  const Similarity found = similarity_with(nearest_rotation(sum), second);
  if (!(found.scale > 0)) {
    solution.failure = "the points of view 2 are not the same shape in both frames";
    return solution;
  }
  solution.cam_from_points = inverse(found.b_from_a);
  solution.num_inliers = count_inliers(views[1], pixels, solution.cam_from_points);
  return solution;
}

void judge(const PnpSolution& solution, PoseReport& report) {
  report.num_inliers = solution.num_inliers;
  const std::string agree = std::to_string(solution.num_inliers) + " of " + std::to_string(report.num_points) + " points agree";
  if (!solution.found()) {
    report.status = "failed";
    report.reason = "no camera found for view 2, it is left where view 1 stands: " + solution.failure;
  } else if (static_cast<double>(solution.num_inliers) < kDoubtfulInliers * static_cast<double>(report.num_points)) {
    report.status = "doubtful";
    report.reason = "the camera of view 2 is in doubt: only " + agree;
  }
}

// z of the points in another frame. [H, W, 3] -> [H, W]
std::vector<float> depth_in(const RigidTransform& cam_from_points, std::span<const float> points) {
  std::vector<float> depth(points.size() / 3);
  for (size_t p = 0; p < depth.size(); ++p) {
    depth[p] = static_cast<float>(transform_point(cam_from_points, {points[3 * p], points[3 * p + 1], points[3 * p + 2]})[2]);
  }
  return depth;
}

}  // namespace

bool needs_fourth_map(PoseMode mode) {
  return mode == PoseMode::kUpstream || mode == PoseMode::kAligned;
}

PoseReport solve_pair_pose(Scene& scene, const SwappedPass& swapped, PoseMode mode, const KnownLenses& known) {
  check_pair(scene, swapped, mode);
  PoseReport report;
  report.mode = mode;
  std::array<PairView, 2> views = views_of(scene, swapped, mode);
  const PairLenses lenses = find_pair_lenses({lens_input(views[0], scene.views[0]), lens_input(views[1], scene.views[1])}, mode, known);
  for (size_t v = 0; v < 2; ++v) {
    views[v].intrinsics = lenses.network[v];
    report.focal_px[v] = views[v].intrinsics.fx;
  }
  report.notes = lenses.notes;

  report.from_exchanged_views = mode == PoseMode::kUpstream && prefers_exchanged(scene, swapped);
  const size_t moved = report.from_exchanged_views ? 0 : 1;  // the view whose camera is sought in the frame of the other
  const size_t fixed = 1 - moved;
  const bool is_aligned = mode == PoseMode::kAligned;
  const std::vector<uint32_t> pixels = is_aligned ? usable_pixels(views[moved]) : confident_pixels(views[moved], mode, report);
  report.num_points = pixels.size();
  PnpSolution solution;
  if (is_aligned) {
    solution = align_views(views, pixels);
  } else if (mode == PoseMode::kUpstream && lenses.are_guessed[moved]) {
    solution.failure = "no focal length, without which upstream seeks no camera";
  } else {
    solution = solve_pnp(points_to_ask(views[moved], pixels), views[moved].intrinsics);
  }
  judge(solution, report);

  const RigidTransform& moved_from_fixed = solution.cam_from_points;  // the identity when there is none
  report.rotation_deg = rotation_angle_deg(moved_from_fixed);
  scene.views[moved].depth = depth_in(moved_from_fixed, views[moved].in_other);
  scene.views[fixed].depth = depth_in({}, views[fixed].own);
  for (size_t v = 0; v < 2; ++v) {
    Camera camera{.world_from_cam = {}, .network = views[v].intrinsics, .original = {}, .intrinsics_known = known.network[v].has_value()};
    if (v == 1) camera.world_from_cam = moved == 1 ? inverse(moved_from_fixed) : moved_from_fixed;  // the world is camera 1
    camera.original = original_intrinsics(camera.network, scene.views[v].transform);
    scene.views[v].camera = camera;
  }
  if (mode == PoseMode::kRaw || is_aligned) return report;
  for (SceneView& view : scene.views) view.points = points_from_depth(view);
  if (mode == PoseMode::kUpstream) {
    for (size_t v = 0; v < 2; ++v) scene.views[v].confidence = std::move(views[v].confidence);
  }
  return report;
}

uint64_t pair_pose_bytes(uint64_t num_pixels) {
  constexpr uint64_t kMaps = (4 + 1) * sizeof(float);
  // Of the one view whose camera is sought: points and pixels as float, OpenCV's projections, errors and inliers, and these as double.
  constexpr uint64_t kPnp = (5 + 4 + 5 + 2 * 5) * sizeof(float);
  return checked_mul(num_pixels, kMaps + kPnp / 2);
}

}  // namespace pointmap
