#include "geometry/pose_check.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "geometry/align_points.h"

namespace pointmap {
namespace {

constexpr double kQuaternionTolerance = 0.01;
constexpr double kLastRowTolerance = 1e-6;

std::string number_text(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

bool all_finite(const auto& numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

double column_product(const std::array<double, 9>& r, size_t a, size_t b) {
  return r[a] * r[b] + r[3 + a] * r[3 + b] + r[6 + a] * r[6 + b];
}

double determinant(const std::array<double, 9>& r) {
  return r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) + r[2] * (r[3] * r[7] - r[4] * r[6]);
}

bool is_last_row(double a, double b, double c, double d) {
  return std::max({std::abs(a), std::abs(b), std::abs(c), std::abs(d - 1)}) <= kLastRowTolerance;
}

}  // namespace

std::string rotation_fault(const std::array<double, 9>& r) {
  if (!all_finite(r)) return "its rotation is not finite";
  double lean = 0;                    // of columns to each other
  std::array<double, 3> length = {};  // of columns
  for (size_t a = 0; a < 3; ++a) {
    length[a] = std::sqrt(column_product(r, a, a));
    for (size_t b = a + 1; b < 3; ++b) lean = std::max(lean, std::abs(column_product(r, a, b)));
  }
  const auto [shortest, longest] = std::minmax_element(length.begin(), length.end());
  const double mean = (length[0] + length[1] + length[2]) / 3;
  if (std::abs(mean - 1) > kRotationTolerance && *longest - *shortest <= kRotationTolerance * mean)
    return "its rotation is not orthonormal: columns are " + number_text(mean) + " long, so it scales";
  const double off = std::max({lean, std::abs(*longest - 1), std::abs(*shortest - 1)});
  if (off > kRotationTolerance) return "its rotation is not orthonormal: it is off by " + number_text(off);
  if (determinant(r) < 0) return "its rotation is left-handed: it mirrors";
  return "";
}

CheckedPose pose_from_matrix(const std::array<double, 16>& m) {
  if (!all_finite(m)) return {.pose = {}, .fault = "it is not finite"};
  if (!is_last_row(m[12], m[13], m[14], m[15])) {
    const bool is_transposed = is_last_row(m[3], m[7], m[11], m[15]);
    return {.pose = {},
            .fault = is_transposed ? "the matrix is transposed: places belong into the last column" : "its last row is not 0 0 0 1"};
  }
  CheckedPose checked;
  const std::array<double, 9> rotation = {m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]};
  checked.fault = rotation_fault(rotation);
  if (checked.fault.empty()) checked.pose = {.rotation = nearest_rotation(rotation), .translation = {m[3], m[7], m[11]}};
  return checked;
}

CheckedPose pose_from_quaternion(const std::array<double, 3>& translation, const std::array<double, 4>& xyzw) {
  const double length = std::sqrt(xyzw[0] * xyzw[0] + xyzw[1] * xyzw[1] + xyzw[2] * xyzw[2] + xyzw[3] * xyzw[3]);
  if (!all_finite(translation) || !std::isfinite(length)) return {.pose = {}, .fault = "it is not finite"};
  if (std::abs(length - 1) > kQuaternionTolerance)
    return {.pose = {}, .fault = "its quaternion is " + number_text(length) + " long, want 1"};
  const double x = xyzw[0] / length, y = xyzw[1] / length, z = xyzw[2] / length, w = xyzw[3] / length;
  return {.pose = {.rotation = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),  //
                                2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),  //
                                2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)},
                   .translation = translation},
          .fault = {}};
}

}  // namespace pointmap
