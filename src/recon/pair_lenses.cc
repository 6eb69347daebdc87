#include "recon/pair_lenses.h"

#include <algorithm>
#include <cmath>

namespace pointmap {
namespace {

constexpr double kMaxFocalDistance = 0.25;  // of the longer side: farther off its ray, a point says nothing about the focal length
constexpr double kStrangeFocal = 0.2;       // of the estimate: a known focal length farther off is worth a word

// Leaves out of `grid` what cannot be on the ray of its pixel, or nearly so: points beside or behind the camera, and those far from where
// the median of all votes puts them. One point close to the camera's plane has a slope of thousands and would pull a Weiszfeld estimate
// with it (a fifth of points anywhere in a room: 0.04 px instead of 416); where there is none, the estimate is upstream's.
void leave_out_impossible(const PointmapGrid& grid, Pixel centre, std::vector<uint8_t>& valid) {
  const double focal = focal_from_pointmap(grid, centre, FocalMethod::kMedian);
  if (!is_usable_focal(focal)) return;
  const double max_distance_px = kMaxFocalDistance * std::max(grid.width, grid.height);
  const Intrinsics camera{.fx = focal, .fy = focal, .cx = centre.u, .cy = centre.v};
  for (size_t p = 0; p < valid.size(); ++p) {
    const Point3 point = {grid.points[3 * p], grid.points[3 * p + 1], grid.points[3 * p + 2]};
    const Pixel seen_at = project(camera, point);
    const auto row = static_cast<double>(p / static_cast<size_t>(grid.width));
    const auto column = static_cast<double>(p % static_cast<size_t>(grid.width));
    if (!(point[2] > 0 && std::hypot(seen_at.u - column, seen_at.v - row) <= max_distance_px)) valid[p] = 0;
  }
}

Pixel principal_point(const LensInput& input, PoseMode mode) {
  if (mode == PoseMode::kUpstream) return upstream_principal_point(input.own.width, input.own.height);
  const ViewTransform& t = input.transform;
  return t.network_from_oriented(image_centre(t.oriented_width(), t.oriented_height()));
}

// One focal length in the photo's pixels for both views, each in its own network pixels.
void share_focal(std::array<FocalView, 2> views, const std::array<LensInput, 2>& inputs, PairLenses& lenses) {
  for (size_t v = 0; v < 2; ++v) {
    views[v].scale_x = inputs[v].transform.scale_x;
    views[v].scale_y = inputs[v].transform.scale_y;
  }
  double focal_px = shared_focal(views, FocalMethod::kWeiszfeld);
  const bool is_guess = !is_usable_focal(focal_px);
  if (is_guess) focal_px = default_focal(inputs[0].transform.oriented_width(), inputs[0].transform.oriented_height());
  for (size_t v = 0; v < 2; ++v) {
    lenses.network[v].fx = focal_px / views[v].scale_x;
    lenses.network[v].fy = focal_px / views[v].scale_y;
    lenses.are_guessed[v] = is_guess;
  }
}

}  // namespace

std::string focal_note(size_t view_index, double known_px, double estimated_px) {
  const bool is_strange = is_usable_focal(known_px) && is_usable_focal(estimated_px) &&
                          (known_px > (1 + kStrangeFocal) * estimated_px || known_px < (1 - kStrangeFocal) * estimated_px);
  if (!is_strange) return "";
  return "view " + std::to_string(view_index + 1) + ": the known focal length is " + std::to_string(std::lround(known_px)) +
         " pixels of the photo, the network's idea of it is " + std::to_string(std::lround(estimated_px)) +
         "; are the intrinsics for a photo of this size?";
}

PairLenses find_pair_lenses(const std::array<LensInput, 2>& inputs, PoseMode mode, const KnownLenses& known) {
  PairLenses lenses;
  std::array<FocalView, 2> views;
  std::array<std::vector<uint8_t>, 2> plausible;
  for (size_t v = 0; v < 2; ++v) {
    FocalView& view = views[v];
    view = {.grid = inputs[v].own, .principal_point = principal_point(inputs[v], mode)};
    plausible[v].assign(view.grid.valid.begin(), view.grid.valid.end());
    if (mode != PoseMode::kUpstream) leave_out_impossible(view.grid, view.principal_point, plausible[v]);
    view.grid.valid = plausible[v];
    double focal = shared_focal({&view, 1}, FocalMethod::kWeiszfeld);
    lenses.are_guessed[v] = !is_usable_focal(focal);
    if (lenses.are_guessed[v]) focal = default_focal(view.grid.width, view.grid.height);
    lenses.network[v] = {.fx = focal, .fy = focal, .cx = view.principal_point.u, .cy = view.principal_point.v};
  }
  if (known.shared) share_focal(views, inputs, lenses);
  for (size_t v = 0; v < 2; ++v) {
    if (known.network[v]) {
      const double scale_x = inputs[v].transform.scale_x;
      const std::string note = lenses.are_guessed[v] ? "" : focal_note(v, known.network[v]->fx * scale_x, lenses.network[v].fx * scale_x);
      if (!note.empty()) lenses.notes.push_back(note);
      lenses.network[v] = *known.network[v];
      lenses.are_guessed[v] = false;
    }
    if (lenses.are_guessed[v])
      lenses.notes.push_back("view " + std::to_string(v + 1) + ": its points imply no focal length, 60 degrees were assumed");
  }
  return lenses;
}

}  // namespace pointmap
