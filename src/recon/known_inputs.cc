#include "recon/known_inputs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "geometry/focal.h"
#include "geometry/pinhole.h"
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
  const bool is_lens = is_usable_focal(k.fx) && is_usable_focal(k.fy) && std::isfinite(k.cx) && std::isfinite(k.cy);
  POINTMAP_CHECK(is_lens, "intrinsics of " + whose + ": fx " + std::to_string(k.fx) + ", fy " + std::to_string(k.fy) + ", cx " +
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

}  // namespace

void check_known_inputs(const KnownInputs& known, const std::vector<Photo>& photos) {
  const size_t num_lenses = known.intrinsics.size();
  POINTMAP_CHECK(num_lenses <= 1 || num_lenses == photos.size(), "intrinsics of " + std::to_string(num_lenses) +
                                                                     " photos, want one for all or one for each of the " +
                                                                     std::to_string(photos.size()) + " photos");
  for (size_t i = 0; i < num_lenses; ++i) check_lens(known.intrinsics[i], num_lenses == 1 ? "all photos" : "'" + photos[i].name + "'");
  POINTMAP_CHECK(!known.shared_intrinsics || num_lenses == 0,
                 "intrinsics are known, so there is none to share: give intrinsics or shared intrinsics, not both");
}

KnownView known_view(const KnownInputs& known, size_t photo) {
  KnownView view;
  if (!known.intrinsics.empty()) view.intrinsics = known.intrinsics[known.intrinsics.size() == 1 ? 0 : photo];
  return view;
}

void check_known_views(const std::vector<RunView>& views, const KnownInputs& known, std::vector<std::string>& notes) {
  for (const RunView& view : views) {
    POINTMAP_CHECK(!known.shared_intrinsics || size_of(view) == size_of(views[0]),
                   "shared intrinsics need photos of one size: " + size_text(views[0]) + ", " + size_text(view));
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

}  // namespace pointmap
