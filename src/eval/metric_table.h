// Names of errors and rows, for whoever goes through all of them.
#pragma once

#include "pointmap/eval.h"

namespace pointmap {

struct EvalMetricName {
  const char* key;      // in JSON
  const char* heading;  // in the table
  double EvalMetrics::*member;
  int decimals;
};

inline constexpr EvalMetricName kEvalMetrics[] = {
    {"abs_rel", "AbsRel 1", &EvalMetrics::abs_rel, 4},
    {"within_1.03", "d<1.03", &EvalMetrics::within_103, 3},
    {"within_1.25", "d<1.25", &EvalMetrics::within_125, 3},
    {"median_dz", "med dz/z", &EvalMetrics::median_dz, 4},
    {"point_error_1", "points 1", &EvalMetrics::point_error_1, 4},
    {"point_error_2", "points 2", &EvalMetrics::point_error_2, 4},
    {"rotation_deg", "rot deg", &EvalMetrics::rotation_deg, 2},
    {"translation_deg", "dir deg", &EvalMetrics::translation_deg, 1},
    {"focal_error", "focal", &EvalMetrics::focal_error, 3},
};

struct EvalRowName {
  const char* key;
  const char* heading;
  EvalMetrics EvalRows::*member;
};

inline constexpr EvalRowName kEvalRows[] = {
    {"model", "model", &EvalRows::model},
    {"mean_pointmap", "mean pointmap", &EvalRows::mean_pointmap},
    {"identity_pose", "identity pose", &EvalRows::identity_pose},
    {"same_view", "photo 1 twice", &EvalRows::same_view},
};

}  // namespace pointmap
