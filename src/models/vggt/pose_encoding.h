// Between the nine numbers that the camera head says of a frame and a camera.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "geometry/pinhole.h"

namespace pointmap {

// Translation x, y, z; quaternion x, y, z, w (scalar last, of any length); field of view of the height, of the width, in radians.
using PoseEncoding = std::array<double, 9>;

struct EncodedCamera {
  RigidTransform cam_from_world;  // OpenCV axes (x right, y down, z forward); the scale of the translation is unknown
  Intrinsics intrinsics;          // in pixels of the network's input; the principal point is its (W / 2, H / 2), as upstream has it
};

// The camera of an image of this size. A field of view of 0 gives an infinite focal length; a quaternion of length 0 gives NaN.
EncodedCamera decode_pose(const PoseEncoding& encoding, int64_t width, int64_t height);
// What decode_pose turns into this camera again, with w >= 0. The principal point is not part of it.
PoseEncoding encode_pose(const EncodedCamera& camera, int64_t width, int64_t height);

// Row `frame` of pose encodings [S, 9].
PoseEncoding pose_encoding_of(std::span<const float> encodings, int64_t frame);

}  // namespace pointmap
