// Which pixels of a scene become points: those that show the photo, are finite and are confident enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pointmap/export.h"
#include "scene/scene.h"

namespace pointmap {

struct PointSelection {
  std::vector<std::vector<uint32_t>> pixels;  // by view: flat indices v * W + u, ascending; none for a view whose status is not "ok"
  float min_confidence = 0;                   // of the points kept
  size_t num_kept = 0;
  size_t num_total = 0;      // pixels that show the photo, kept or not
  size_t num_nonfinite = 0;  // of these, with a coordinate or confidence that is NaN or infinite: never kept
  size_t num_padding = 0;    // pixels beside the photo, not in num_total: never kept
};

// Keeps at least one point whenever there is a finite one; num_kept is 0 only when there is none.
// Throws Error{kInvalidArgument} for a percentile outside 0 to 100 and for a scene that check_scene refuses.
PointSelection select_points(const Scene& scene, const ConfidenceFilter& filter);

// Pixels that show a photo, of the views that are ok.
size_t num_photo_pixels(const Scene& scene);

// Throws Error{kInvalidArgument} naming the view unless there is a view and the sizes of every view's arrays, image and transform agree;
// a view whose status is not "ok" may have no arrays.
void check_scene(const Scene& scene);

// Whether the coordinates and the confidence of the flat index `pixel` are finite.
bool is_finite_point(const SceneView& view, size_t pixel);

}  // namespace pointmap
