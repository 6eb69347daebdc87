// Comparisons as text for people and as JSON for programs.
#pragma once

#include <span>
#include <string>

#include "scene/compare_arrays.h"

namespace pointmap {

// One line per array under a line of headings, with its verdict: "ok", "-" for an array that was not compared, or what is beyond the
// limits; the last line sums up. "-" stands for undefined numbers.
std::string render_table(std::span<const ArrayComparison> comparisons, const CompareThresholds& thresholds);

// {"within": bool, "arrays": [{"name", "outcome", "within", "violation", "count", "pcc", ...}]}; undefined and infinite numbers are null.
std::string to_json(std::span<const ArrayComparison> comparisons, const CompareThresholds& thresholds);

}  // namespace pointmap
