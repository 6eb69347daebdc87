#include "models/vggt/pose_encoding.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/check.h"

namespace pointmap {
namespace {

using Matrix3 = std::array<double, 9>;  // row-major

// Dividing by the squared length makes a rotation of a quaternion of any length.
Matrix3 rotation_of(double i, double j, double k, double r) {
  const double s = 2 / (i * i + j * j + k * k + r * r);
  return {1 - s * (j * j + k * k), s * (i * j - k * r),     s * (i * k + j * r),  //
          s * (i * j + k * r),     1 - s * (i * i + k * k), s * (j * k - i * r),  //
          s * (i * k - j * r),     s * (j * k + i * r),     1 - s * (i * i + j * j)};
}

// x, y, z, w of a rotation, w >= 0. Of the four ways to write the quaternion, the one that divides by its largest component.
std::array<double, 4> quaternion_of(const Matrix3& m) {
  const std::array<double, 4> four_squares = {1 + m[0] + m[4] + m[8], 1 + m[0] - m[4] - m[8], 1 - m[0] + m[4] - m[8],
                                              1 - m[0] - m[4] + m[8]};  // of 2w, 2x, 2y, 2z
  const auto largest = std::ranges::max_element(four_squares) - four_squares.begin();
  const double twice = std::sqrt(std::max(four_squares[static_cast<size_t>(largest)], 0.0));
  const double wx = m[7] - m[5], wy = m[2] - m[6], wz = m[3] - m[1];  // 4 w x, ...
  const double xy = m[3] + m[1], xz = m[2] + m[6], yz = m[7] + m[5];
  const double own = twice * twice;
  std::array<double, 4> xyzw{};
  if (largest == 0) xyzw = {wx, wy, wz, own};
  if (largest == 1) xyzw = {own, xy, xz, wx};
  if (largest == 2) xyzw = {xy, own, yz, wy};
  if (largest == 3) xyzw = {xz, yz, own, wz};
  const double divisor = xyzw[3] < 0 ? -2 * twice : 2 * twice;
  for (double& component : xyzw) component /= divisor;
  return xyzw;
}

double focal_px(int64_t side, double field_of_view) {
  return static_cast<double>(side) / 2 / std::tan(field_of_view / 2);
}

double field_of_view(int64_t side, double focal) {
  return 2 * std::atan(static_cast<double>(side) / 2 / focal);
}

}  // namespace

EncodedCamera decode_pose(const PoseEncoding& e, int64_t width, int64_t height) {
  return {.cam_from_world = {.rotation = rotation_of(e[3], e[4], e[5], e[6]), .translation = {e[0], e[1], e[2]}},
          .intrinsics = {.fx = focal_px(width, e[8]),
                         .fy = focal_px(height, e[7]),
                         .cx = static_cast<double>(width) / 2,
                         .cy = static_cast<double>(height) / 2}};
}

PoseEncoding encode_pose(const EncodedCamera& camera, int64_t width, int64_t height) {
  const auto [x, y, z, w] = quaternion_of(camera.cam_from_world.rotation);
  const auto& t = camera.cam_from_world.translation;
  return {t[0], t[1], t[2], x, y, z, w, field_of_view(height, camera.intrinsics.fy), field_of_view(width, camera.intrinsics.fx)};
}

PoseEncoding pose_encoding_of(std::span<const float> encodings, int64_t frame) {
  PoseEncoding encoding{};
  const auto begin = static_cast<size_t>(frame) * encoding.size();
  POINTMAP_CHECK(frame >= 0 && begin + encoding.size() <= encodings.size(),
                 "no pose encoding " + std::to_string(frame) + " in " + std::to_string(encodings.size()) + " numbers");
  std::ranges::copy(encodings.subspan(begin, encoding.size()), encoding.begin());
  return encoding;
}

}  // namespace pointmap
