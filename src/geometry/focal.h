// The focal length that a pointmap implies: the pixel grid says where each ray is, the points say where it goes.
#pragma once

#include <cstdint>
#include <span>

#include "pointmap/camera.h"
#include "pointmap/view_transform.h"

namespace pointmap {

enum class FocalMethod {
  kMedian,     // of one vote per pixel and axis
  kWeiszfeld,  // least sum of distances in the image, ten steps of reweighting
};

struct PointmapGrid {
  std::span<const float> points;   // [H, W, 3] in the frame of the camera that sees the grid
  std::span<const uint8_t> valid;  // [H, W], 0 leaves the pixel out; empty takes all
  int width = 0;
  int height = 0;
};

// A pointmap among several that one lens made.
struct FocalView {
  PointmapGrid grid;
  Pixel principal_point;  // in pixels of the grid
  double scale_x = 1;     // pixels of the focal length per pixel of the grid
  double scale_y = 1;
};

// In pixels of the grid, one for both axes, not negative. As upstream's estimate_focal_knowing_depth, in double precision; the median
// of an even number of votes is the lower of the middle two. NaN when no pixel says anything.
// Throws Error{kInvalidArgument} when the sizes do not fit.
double focal_from_pointmap(const PointmapGrid& grid, Pixel principal_point, FocalMethod method);

// The same for all of them together, every pixel of every view with one voice: in the pixels that the views' scales lead to.
double shared_focal(std::span<const FocalView> views, FocalMethod method);

// Whether an estimate is one: finite and above 0.
bool is_usable_focal(double focal_px);
// And whether the whole lens is: usable focal lengths, a finite principal point.
bool is_usable_lens(const Intrinsics& intrinsics);

// Of a view 60 degrees wide along the longer side: upstream's guess when nothing is known.
double default_focal(int width, int height);

}  // namespace pointmap
