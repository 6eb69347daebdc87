#include "models/vggt/pose_encoding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "base/error.h"
#include "geometry/rigid_transform.h"

namespace pointmap {
namespace {

constexpr double kPrinted = 0.5e-7 + 2 * 0x1p-24;  // the specification gives 7 decimals of float32 arithmetic
constexpr double kExact = 1e-15;                   // a few double roundings of numbers of about 1

TEST(PoseEncoding, QuaternionHasTheMatrixOfTheSpecification) {  // appendix A.5
  const EncodedCamera camera = decode_pose({1, 2, 3, 0.1, -0.2, 0.3, 0.9, 1, 1}, 518, 518);
  const std::array<double, 9> wanted = {0.7263158,  -0.6105264, -0.3157895, 0.5263158, 0.7894737,
                                        -0.3157895, 0.4421053,  0.0631579,  0.8947368};
  for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(camera.cam_from_world.rotation[i], wanted[i], kPrinted) << i;
  EXPECT_EQ(camera.cam_from_world.translation, (std::array<double, 3>{1, 2, 3}));
  const PoseEncoding back = encode_pose(camera, 518, 518);
  const std::array<double, 4> unit = {0.1025978, -0.2051957, 0.3077936, 0.9233804};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(back[3 + i], unit[i], kPrinted) << i;
}

TEST(PoseEncoding, FieldOfViewOfTheHeightComesFirst) {
  // 90 degrees over the height of 350: fy = 175. 2 atan(0.5) over the width of 518: fx = 259 / 0.5.
  const EncodedCamera camera = decode_pose({0, 0, 0, 0, 0, 0, 1, std::numbers::pi / 2, 2 * std::atan(0.5)}, 518, 350);
  EXPECT_NEAR(camera.intrinsics.fy, 175, 175 * kExact);
  EXPECT_NEAR(camera.intrinsics.fx, 518, 518 * kExact);
  EXPECT_EQ(camera.intrinsics.cx, 259);
  EXPECT_EQ(camera.intrinsics.cy, 175);
}

TEST(PoseEncoding, MovesTheWorldIntoTheCamera) {
  // A quarter turn about y takes z to x: (0, 0, 1) in the world is at (1, 0, 0) + t. A quaternion of length sqrt 2 will do.
  const EncodedCamera camera = decode_pose({10, 20, 30, 0, 1, 0, 1, 1, 1}, 14, 14);
  const Point3 in_cam = transform_point(camera.cam_from_world, {0, 0, 1});
  EXPECT_NEAR(in_cam[0], 11, 11 * kExact);
  EXPECT_NEAR(in_cam[1], 20, 20 * kExact);
  EXPECT_NEAR(in_cam[2], 30, 30 * kExact);
}

TEST(PoseEncoding, NoFieldOfViewIsAnInfiniteFocalLength) {
  const EncodedCamera camera = decode_pose({0, 0, 0, 0, 0, 0, 1, 0, 0}, 518, 518);
  EXPECT_TRUE(std::isinf(camera.intrinsics.fx));
  EXPECT_TRUE(std::isinf(camera.intrinsics.fy));
}

TEST(PoseEncoding, EncodingIsTheInverseOfDecodingForAnyLargestComponent) {
  const std::vector<std::array<double, 4>> quaternions = {{0.1, 0.2, -0.3, 0.9}, {0.9, 0.1, 0.2, 0.3}, {-0.2, 0.9, 0.1, 0.3},
                                                          {0.3, -0.1, 0.9, 0.2}, {1, 0, 0, 0},         {0, 0.6, 0.8, 0},
                                                          {0.5, 0.5, 0.5, 0.5}};
  for (std::array<double, 4> q : quaternions) {
    double length = 0;
    for (const double c : q) length += c * c;
    for (double& c : q) c /= std::sqrt(length);
    const PoseEncoding encoding = {-1, 0.5, 2, q[0], q[1], q[2], q[3], 0.7, 1.1};
    const PoseEncoding back = encode_pose(decode_pose(encoding, 518, 392), 518, 392);
    // With w = 0 a quaternion and its negative are equally good.
    const double sign = q[3] == 0 && back[3] * q[0] + back[4] * q[1] + back[5] * q[2] < 0 ? -1 : 1;
    for (size_t i = 0; i < 9; ++i) {
      const double factor = i >= 3 && i < 7 ? sign : 1;
      EXPECT_NEAR(factor * back[i], encoding[i], 8 * kExact) << i << " of " << q[0] << " " << q[1] << " " << q[2] << " " << q[3];
    }
  }
}

TEST(PoseEncoding, IsTakenFromARowOfTheNetworksOutput) {
  std::vector<float> encodings(18);
  for (size_t i = 0; i < 18; ++i) encodings[i] = static_cast<float>(i);
  const PoseEncoding second = pose_encoding_of(encodings, 1);
  for (size_t i = 0; i < 9; ++i) EXPECT_EQ(second[i], 9.0 + static_cast<double>(i));
  EXPECT_THROW((void)pose_encoding_of(encodings, 2), Error);
  EXPECT_THROW((void)pose_encoding_of(encodings, -1), Error);
}

}  // namespace
}  // namespace pointmap
