// Which pixels of a scene become points: those that are valid, finite and confident enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pointmap/export.h"
#include "scene/scene.h"

namespace pointmap {

struct PointSelection {
  std::vector<std::vector<uint32_t>> pixels;  // by view: flat indices v * W + u, ascending; none for a view whose status is not "ok"
  float min_confidence = 0;                   // of the points kept
  size_t num_kept = 0;
  size_t num_total = 0;      // valid pixels, kept or not
  size_t num_nonfinite = 0;  // of these, with a coordinate or confidence that is NaN or infinite: never kept
  size_t num_invalid = 0;    // pixels beside the photo or outside its mask, not in num_total: never kept
};

// Keeps at least one point whenever there is a finite one; num_kept is 0 only when there is none.
// Throws Error{kInvalidArgument} for a percentile outside 0 to 100 and for a scene that check_scene refuses.
PointSelection select_points(const Scene& scene, const ConfidenceFilter& filter);

// Of `count` confidences in ascending order, the place of the one below which the filter leaves points out: the nearest rank. At most
// `percentile` % of them lie before it, and the last one never does.
size_t rank_of_percentile(double percentile, size_t count);

// Of the selected pixels, view after view.
std::vector<float> confidences_of(const Scene& scene, const PointSelection& selection);

// "kept 9 of 12 pixels: finite, of confidence 3 or more", for people.
std::string kept_description(const PointSelection& selection);

// Which pixels count at all: [H, W], 1 where the photo is shown and the view's mask, if it has one, takes the pixel in.
std::vector<uint8_t> valid_mask(const SceneView& view);

// Valid pixels of the views that are ok.
size_t num_valid_pixels(const Scene& scene);

// Throws Error{kInvalidArgument} naming the view unless there is a view and the sizes of every view's arrays, image and transform agree;
// a view whose status is not "ok" may have no arrays.
void check_scene(const Scene& scene);

// Whether the coordinates and the confidence of the flat index `pixel` are finite.
bool is_finite_point(const SceneView& view, size_t pixel);

}  // namespace pointmap
