#include "recon/known_inputs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "geometry/focal.h"
#include "geometry/pinhole.h"
#include "geometry/pose_check.h"
#include "geometry/view_transform.h"
#include "recon/known_poses.h"
#include "recon/known_scale.h"
#include "recon/pair_lenses.h"

namespace pointmap {
namespace {

constexpr double kStrangeCentre = 0.25;  // of a side of the photo: a lens that points farther from the middle is worth a word

// Longer side and shorter side of the photo.
std::pair<int, int> size_of(const RunView& view) {
  const ViewTransform& t = view.prepared.transform;
  return std::minmax({t.oriented_width(), t.oriented_height()}, std::greater<>());
}

std::string size_text(const RunView& view) {
  const ViewTransform& t = view.prepared.transform;
  return "'" + view.source + "' has " + std::to_string(t.oriented_width()) + "x" + std::to_string(t.oriented_height()) + " pixels";
}

void check_lens(const Intrinsics& k, const std::string& whose) {
  POINTMAP_CHECK(is_usable_lens(k), "intrinsics of " + whose + ": fx " + std::to_string(k.fx) + ", fy " + std::to_string(k.fy) + ", cx " +
                                        std::to_string(k.cx) + ", cy " + std::to_string(k.cy) + "; want finite numbers, fx and fy above 0");
}

std::string centre_note(const RunView& view) {
  const ViewTransform& t = view.prepared.transform;
  const Pixel middle = image_centre(t.oriented_width(), t.oriented_height());
  const Intrinsics& k = *view.known.intrinsics;
  if (std::abs(k.cx - middle.u) <= kStrangeCentre * t.oriented_width() && std::abs(k.cy - middle.v) <= kStrangeCentre * t.oriented_height())
    return "";
  return "the known lens points far from the middle of the photo: " + size_text(view) + ", (cx, cy) is (" +
         std::to_string(std::lround(k.cx)) + ", " + std::to_string(std::lround(k.cy)) + "); are the intrinsics for a photo of this size?";
}

// Of all focal lengths of the scene, both axes, in pixels of the photos; 0 when none is one.
double median_focal(const Scene& scene) {
  std::vector<double> focals;
  for (const SceneView& view : scene.views) {
    for (const double focal : {view.camera->original.fx, view.camera->original.fy}) {
      if (is_usable_focal(focal)) focals.push_back(focal);
    }
  }
  if (focals.empty()) return 0;
  std::ranges::sort(focals);
  return (focals[(focals.size() - 1) / 2] + focals[focals.size() / 2]) / 2;
}

void check_scale(const KnownInputs& known, size_t num_photos) {
  const int num_scales = (known.poses.world_from_cam.empty() ? 0 : 1) + (known.baseline_metres ? 1 : 0) + (known.distance ? 1 : 0);
  POINTMAP_CHECK(num_scales <= 1, "at most one of poses, baseline and distance fixes the scale, got " + std::to_string(num_scales));
  const auto is_length = [](double metres) { return std::isfinite(metres) && metres > 0; };
  if (known.baseline_metres) {
    POINTMAP_CHECK(is_length(*known.baseline_metres),
                   "baseline of " + std::to_string(*known.baseline_metres) + " metres, want more than 0");
    POINTMAP_CHECK(num_photos >= 2, "a baseline is between the cameras of two photos, got " + std::to_string(num_photos));
  }
  if (!known.distance) return;
  POINTMAP_CHECK(is_length(known.distance->metres), "distance of " + std::to_string(known.distance->metres) + " metres, want more than 0");
  for (const PhotoPoint& point : {known.distance->from, known.distance->to}) {
    POINTMAP_CHECK(point.photo < num_photos,
                   "distance to a point in photo " + std::to_string(point.photo + 1) + ", there are " + std::to_string(num_photos));
  }
}

void check_poses(const KnownPoses& poses, const std::vector<Photo>& photos) {
  if (poses.world_from_cam.empty()) return;
  POINTMAP_CHECK(poses.world_from_cam.size() == photos.size() && photos.size() >= 2,
                 "poses of " + std::to_string(poses.world_from_cam.size()) + " photos, want one for each of the " +
                     std::to_string(photos.size()) + ", and at least two");
  for (size_t i = 0; i < photos.size(); ++i) {
    const RigidTransform& pose = poses.world_from_cam[i];
    std::string fault = rotation_fault(pose.rotation);
    if (!std::ranges::all_of(pose.translation, [](double x) { return std::isfinite(x); })) fault = "its place is not finite";
    POINTMAP_CHECK(fault.empty(), "pose of '" + photos[i].name + "': " + fault + "; wanted is camera-to-world");
  }
}

// The view of a photo that a length is about.
const RunView& view_of(const std::vector<RunView>& views, size_t photo, const char* what) {
  const auto found = std::ranges::find(views, photo, &RunView::photo);
  POINTMAP_CHECK(found != views.end(), std::string(what) + " needs photo " + std::to_string(photo + 1) + ", which was skipped");
  return *found;
}

void check_point(const RunView& view, Pixel pixel) {
  const ViewTransform& t = view.prepared.transform;
  const auto within = [](double x, int size) { return x >= -0.5 && x < size - 0.5; };
  const Pixel network = t.network_from_oriented(pixel);
  const char* fault = nullptr;
  if (!within(pixel.u, t.oriented_width()) || !within(pixel.v, t.oriented_height())) {
    fault = "is outside the photo";
  } else if (!within(network.u, t.network_width) || !within(network.v, t.network_height)) {
    fault = "is in a part of the photo that the preset crops away";
  } else if (!view.known.mask.empty()) {
    const auto row = static_cast<size_t>(std::lround(network.v)), column = static_cast<size_t>(std::lround(network.u));
    if (view.known.mask[row * static_cast<size_t>(t.network_width) + column] == 0) fault = "is black in the photo's mask";
  }
  POINTMAP_CHECK(fault == nullptr, "distance: the pixel (" + std::to_string(pixel.u) + ", " + std::to_string(pixel.v) + ") " + fault +
                                       "; " + size_text(view));
}

void check_mirrors(const RunView& view) {
  const ViewTransform& t = view.prepared.transform;
  POINTMAP_CHECK(!is_stored_mirrored(t), "'" + view.source + "' is stored mirrored (EXIF orientation " +
                                             std::to_string(t.exif_orientation) + "): no pose of its stored pixels is one of the photo");
}

}  // namespace

void check_known_inputs(const KnownInputs& known, const std::vector<Photo>& photos) {
  const size_t num_lenses = known.intrinsics.size();
  POINTMAP_CHECK(num_lenses <= 1 || num_lenses == photos.size(), "intrinsics of " + std::to_string(num_lenses) +
                                                                     " photos, want one for all or one for each of the " +
                                                                     std::to_string(photos.size()) + " photos");
  for (size_t i = 0; i < num_lenses; ++i) check_lens(known.intrinsics[i], num_lenses == 1 ? "all photos" : "'" + photos[i].name + "'");
  POINTMAP_CHECK(!known.shared_intrinsics || num_lenses == 0,
                 "intrinsics are known, so there is none to share: give intrinsics or shared intrinsics, not both");
  POINTMAP_CHECK(known.masks.empty() || known.masks.size() == photos.size(),
                 "masks of " + std::to_string(known.masks.size()) + " photos, want one for each of the " + std::to_string(photos.size()));
  check_poses(known.poses, photos);
  check_scale(known, photos.size());
}

KnownView known_view(const KnownInputs& known, size_t photo) {
  KnownView view;
  if (!known.intrinsics.empty()) view.intrinsics = known.intrinsics[known.intrinsics.size() == 1 ? 0 : photo];
  return view;
}

void check_known_views(const std::vector<RunView>& views, const KnownInputs& known, std::vector<std::string>& notes) {
  for (const size_t photo : {0U, 1U}) {
    if (known.baseline_metres) view_of(views, photo, "the baseline");
  }
  if (known.distance) {
    for (const PhotoPoint& point : {known.distance->from, known.distance->to})
      check_point(view_of(views, point.photo, "the distance"), point.pixel);
  }
  POINTMAP_CHECK(known.poses.world_from_cam.empty() || views.size() >= 2, "known poses need two photos that can be read");
  for (const RunView& view : views) {
    POINTMAP_CHECK(!known.shared_intrinsics || size_of(view) == size_of(views[0]),
                   "shared intrinsics need photos of one size: " + size_text(views[0]) + ", " + size_text(view));
    if (known.poses.of_stored_pixels) check_mirrors(view);
    if (!view.known.intrinsics) continue;
    POINTMAP_CHECK(known.intrinsics.size() > 1 || size_of(view) == size_of(views[0]),
                   "one set of intrinsics for all photos needs photos of one size: " + size_text(views[0]) + ", " + size_text(view) +
                       "; give intrinsics for each photo");
    if (std::string note = centre_note(view); !note.empty()) notes.push_back(std::move(note));
  }
}

void replace_lenses(Scene& scene, const std::vector<KnownView>& known, bool shared, std::vector<std::string>& notes) {
  const double shared_px = shared ? median_focal(scene) : 0;
  size_t num_known = 0;
  for (size_t v = 0; v < scene.views.size(); ++v) {
    Camera& camera = *scene.views[v].camera;
    if (known[v].intrinsics) {
      if (std::string note = focal_note(v, known[v].intrinsics->fx, camera.original.fx); !note.empty()) notes.push_back(std::move(note));
      camera.original = *known[v].intrinsics;
      camera.intrinsics_known = true;
      ++num_known;
    } else if (shared_px > 0) {
      camera.original.fx = camera.original.fy = shared_px;
    } else {
      continue;
    }
    camera.network = network_intrinsics(camera.original, scene.views[v].transform);
  }
  if (num_known > 0 || shared_px > 0)
    notes.push_back("points from depth lie on the rays of the " + std::string(num_known > 0 ? "known" : "shared") +
                    " intrinsics; depth itself, the poses and the points of the network's head are as the network said them");
}

void apply_known_inputs(Scene& scene, const KnownInputs& known, RunReport& report) {
  report.known.shared_intrinsics = known.shared_intrinsics;
  for (const SceneView& view : scene.views) {
    report.known.num_intrinsics += view.camera && view.camera->intrinsics_known ? 1 : 0;
    report.known.num_masks += view.mask.empty() ? 0 : 1;
  }
  apply_known_poses(scene, known.poses, report);
  apply_known_scale(scene, known, report);
}

}  // namespace pointmap
