// The accuracy gate: are the arrays of two .npz files near enough to each other?
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace pointmap {

// A comparison passes when it was made, infinities and NaN stand in the same places, some value is finite, and no number is beyond its
// limit. Limits on numbers that are undefined for an array (depth for other than points, PyTorch's error without a golden file) do not
// apply to it, except the correlation, which a constant array must replace by being equal.
struct CompareThresholds {
  double min_pcc = 0.9999;
  double max_relative_error = 1e-3;
  double max_abs_diff = std::numeric_limits<double>::infinity();
  double max_median_dz_over_z = std::numeric_limits<double>::infinity();
  double max_rms_over_torch = 3;
  double max_max_over_torch = 6;
  bool must_be_equal = false;          // every element the same
  bool must_have_same_arrays = false;  // arrays in one file only fail
};

struct CompareResult {
  bool within = false;  // at least one array was compared, and all of them pass
  std::string table;    // for people
  std::string json;     // for programs
};

// Compares every array (or those of `names`) that both files have; b is the reference, and may be a golden file. Throws Error naming
// the file that cannot be read, or both when they have no array in common.
CompareResult compare_files(const std::filesystem::path& a, const std::filesystem::path& b, const CompareThresholds& thresholds = {},
                            const std::vector<std::string>& names = {});

}  // namespace pointmap
