// Cameras for programs that open the pixels as the file stores them and do not know EXIF orientation, as COLMAP and nerfstudio do not.
#pragma once

#include <cstddef>
#include <string>

#include "geometry/rigid_transform.h"
#include "scene/scene.h"

namespace pointmap {

// Of the photo's pixels before EXIF orientation: the camera of the scene, turned about its axis with the picture.
struct StoredCamera {
  int width = 0;
  int height = 0;
  RigidTransform cam_from_world;
  Intrinsics intrinsics;  // pixel centres at integers, as everywhere here
};

// Of a view with a camera that is not stored mirrored.
StoredCamera stored_camera(const SceneView& view);

// Why some view that is ok has no camera that could be written: "view 2 ('b.jpg') has none: ..."; empty when all have one, and there is
// one.
std::string camera_refusal(const Scene& scene);
// The same for stored_camera: also EXIF orientations that mirror (2, 4, 5, 7), which no turn of a camera expresses.
std::string stored_camera_refusal(const Scene& scene);

// What a convention adds for photos that EXIF orientation turns: "; ...: 2 (orientation 6)". Empty when it turns none.
std::string exif_note(const Scene& scene);

}  // namespace pointmap
