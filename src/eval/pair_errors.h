// The errors of a pair: numbers from points and cameras, whoever predicted them.
#pragma once

#include <array>

#include "eval/point_grid.h"
#include "geometry/rigid_transform.h"
#include "pointmap/eval.h"

namespace pointmap {

using PairGrids = std::array<PointGrid, 2>;  // of both views, in the frame of camera 1

// Of the middle, or the mean of the two in the middle; NaN when there is none.
double median_of(std::vector<double> values);

// The factor that brings the prediction to the truth's scale: the median of |truth| / |prediction| over the pixels of both views that
// have both. NaN when there is none. A view whose grids differ in size has none.
double scale_of(const PairGrids& prediction, const PairGrids& truth);

// The five errors of points. A prediction behind the camera or not finite where there is truth counts as z = 0 and as wholly wrong (1).
EvalMetrics point_errors(const PairGrids& prediction, const PairGrids& truth, double scale);

struct PairCameras {
  RigidTransform cam1_from_cam2;
  std::array<double, 2> focal_px = {};  // in the photos' pixels
};

// Fills the three errors of cameras.
void add_camera_errors(EvalMetrics& errors, const PairCameras& prediction, const PairCameras& truth);

// Of the middle (median) or the mean of each error over the scenes where it is defined.
EvalRows median_rows(const std::vector<EvalScene>& scenes);
EvalRows mean_rows(const std::vector<EvalScene>& scenes);

}  // namespace pointmap
