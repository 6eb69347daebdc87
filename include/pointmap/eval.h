// How near the truth is a model? Errors over folders of scenes whose geometry is known.
//
//   pointmap::Reconstructor reconstructor = pointmap::Reconstructor::open("demo");
//   std::cout << pointmap::to_table(pointmap::evaluate(reconstructor, "held-out"));
//
// A scene is a folder with scene.json, its photos and the truth as arrays, as tools/scene_gen/README.md lays it out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "pointmap/pointmap.h"

namespace pointmap {

struct EvalOptions {
  size_t limit = 0;             // that many scenes, in the order of their paths; 0: all
  bool baselines = true;        // also what the truth and a second run say, see EvalScene; the run takes as long again
  std::string preset = "keep";  // as in ReconstructOptions
  std::optional<PoseMode> pose_mode = {};
  Progress progress = {};  // called with ("scene", done, total), on the calling thread
};

// Errors of one pair. Points of both views are in the frame of camera 1; predictions are brought to the truth's scale first, by one factor
// per pair: the median of |truth| / |prediction| over the pixels of both views that have truth. Confidences play no part. NaN: undefined.
struct EvalMetrics {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
  double abs_rel = kUndefined;          // mean |dz| / z of view 1
  double within_103 = kUndefined;       // share of view 1's pixels with max(z / z', z' / z) < 1.03
  double within_125 = kUndefined;       // < 1.25
  double median_dz = kUndefined;        // median |dz| / z of view 1
  double point_error_1 = kUndefined;    // mean |error| / |truth| of view 1's points
  double point_error_2 = kUndefined;    // of view 2's points
  double rotation_deg = kUndefined;     // between the second camera's orientation and the true one
  double translation_deg = kUndefined;  // between the directions from camera 1 to camera 2; 90 where no camera was found
  double focal_error = kUndefined;      // |f' / f - 1|, mean of both views
};

// A model, and what is easy to be better than:
struct EvalRows {
  EvalMetrics model;
  EvalMetrics mean_pointmap;  // the average truth of the other scenes with pictures of this size, each scaled to mean distance 1
  EvalMetrics identity_pose;  // the second camera stands and looks as the first: its rotation error is the rotation of the pair
  EvalMetrics same_view;      // the network is given photo 1 twice: better than this means that photo 2 was used
};

struct EvalScene {
  std::string folder;             // below the one that was evaluated
  size_t num_pixels[2] = {0, 0};  // of each view with truth
  double scale = 0;               // the factor of the model's prediction
  std::string pose_status;        // as in PoseReport; empty for a model that has no such report
  double run_ms = 0;
  EvalRows errors;
};

struct EvalResult {
  std::string model;
  std::string model_hash;
  std::string preset;
  std::vector<EvalScene> scenes;
  EvalRows median;  // of each error over the scenes where it is defined
  EvalRows mean;
};

// Evaluates every folder below `folder`, itself included, that holds a scene.json; of scenes with more views the first two. Throws
// Error{kNotFound, kCorruptData, kUnsupported, ...} naming the scene's file and what is wrong with it, and what reconstruct() throws.
EvalResult evaluate(Reconstructor& reconstructor, const std::filesystem::path& folder, const EvalOptions& options = {});

std::string to_table(const EvalResult& result);  // for people: a line per scene, then medians and means with the baselines
std::string to_json(const EvalResult& result);   // for programs; undefined numbers are null

}  // namespace pointmap
