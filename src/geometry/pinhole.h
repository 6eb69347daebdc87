// How pixels and points in front of a camera belong together.
#pragma once

#include "geometry/rigid_transform.h"
#include "pointmap/camera.h"  // IWYU pragma: export
#include "pointmap/view_transform.h"

namespace pointmap {

// The pixel that shows a point. The point must not lie in the plane of the camera (z = 0).
Pixel project(const Intrinsics& intrinsics, const Point3& point_in_cam);
// The point that lies `depth` (its z) before the camera and is seen in `pixel`.
Point3 unproject(const Intrinsics& intrinsics, Pixel pixel, double depth);

// The same camera for the photo as a person sees it: oriented pixels instead of the network's.
Intrinsics original_intrinsics(const Intrinsics& network, const ViewTransform& view);
// And back.
Intrinsics network_intrinsics(const Intrinsics& original, const ViewTransform& view);

// The middle of an image of this size, where a lens points: (W - 1) / 2, (H - 1) / 2 with pixel centres at integers.
Pixel image_centre(int width, int height);
// What upstream DUSt3R takes for it, in the network's image: (W / 2, H / 2), half a pixel right and down of the middle.
Pixel upstream_principal_point(int width, int height);

}  // namespace pointmap
