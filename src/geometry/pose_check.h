// Poses as files hold them: made into rigid transforms, or what is wrong with them.
#pragma once

#include <array>
#include <string>

#include "geometry/rigid_transform.h"

namespace pointmap {

// How far products of a rotation's columns may be from 0 and 1: files with four decimals are within.
inline constexpr double kRotationTolerance = 1e-3;

// What is wrong with a rotation, 3x3, row-major: "it is left-handed: it mirrors"; empty when it is one, to kRotationTolerance.
std::string rotation_fault(const std::array<double, 9>& rotation);

struct CheckedPose {
  RigidTransform pose;  // its rotation is exact, as near to what was given as can be
  std::string fault;    // empty when there is a pose
};

// Of a 4x4 matrix, row-major, its last row 0 0 0 1.
CheckedPose pose_from_matrix(const std::array<double, 16>& matrix);

// Of a place and a quaternion x, y, z, w (scalar last), of length 1 to a hundredth.
CheckedPose pose_from_quaternion(const std::array<double, 3>& translation, const std::array<double, 4>& xyzw);

}  // namespace pointmap
