// How far two arrays of the same size are apart: the numbers of the accuracy gate, in double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "io/npz/npz_file.h"

namespace pointmap {

inline constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// Of the pairs where both values are finite, unless said otherwise. kUndefined where a number has no meaning.
struct ArrayMetrics {
  size_t count = 0;         // pairs in all
  size_t count_finite = 0;  // pairs that the numbers below are about
  double pcc = kUndefined;  // Pearson correlation; 1 for equal arrays, undefined for a constant one
  double max_abs_diff = kUndefined;
  double rms_diff = kUndefined;
  double relative_error = kUndefined;        // ||a - b|| / ||b||: b is the reference. Infinite when only b is zero
  double median_abs_dz_over_z = kUndefined;  // |a_z - b_z| / |b_z|, only where is_z is given; pairs with b_z = 0 left out
  size_t num_different = 0;                  // of all pairs: values that are not the same; NaN is the same as NaN
  size_t num_nonfinite_a = 0;                // NaN and infinities
  size_t num_nonfinite_b = 0;
  size_t num_nonfinite_mismatch = 0;  // not finite on a side, and not the same on the other
};

// Compares a[i] with b[i]. is_z marks the depth coordinates of points, [N] or empty. Throws Error{kInvalidArgument} when the
// sizes differ.
ArrayMetrics measure(std::span<const double> a, std::span<const double> b, const std::vector<bool>& is_z = {});

// The elements of any type as double; 64-bit integers beyond 2^53 are rounded.
std::vector<double> doubles_of(const NpzArray& array);

}  // namespace pointmap
