// What the caller knows about the photos, so that nobody has to estimate it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pointmap/camera.h"
#include "pointmap/photos.h"
#include "pointmap/view_transform.h"

namespace pointmap {

// Where the photos were taken from, in metres, in any one world.
struct KnownPoses {
  std::vector<RigidTransform> world_from_cam = {};  // camera-to-world; axes of the camera x right, y down, z forward
  // The cameras are those of the pixels as the files store them, EXIF orientation not applied, as COLMAP and nerfstudio open photos; else
  // of the photo as a person sees it.
  bool of_stored_pixels = false;
  std::string source = "the caller";  // for people: the file
};

struct PhotoPoint {
  size_t photo = 0;  // its place in the list, from 0
  Pixel pixel = {};  // of the photo, as for intrinsics
};

struct KnownDistance {
  PhotoPoint from = {};
  PhotoPoint to = {};
  double metres = 0;
};

// Lists are empty where nothing is known, or have an entry for each photo, in their order. All of it is checked before heavy work. At most
// one of poses, baseline and distance, which fix the scale: points, depths and cameras are then in metres (Scene::scale). Where the network
// leaves nothing to scale by, because it found no second camera or puts both in one place, the scene stays as it is and
// KnownReport::scale_status says so.
struct KnownInputs {
  // Of each photo, or one for all. In pixels of the photo as the preset takes it (as a person sees it: EXIF orientation applied; only
  // vggt_crop and vggt_pad ignore EXIF), pixel centres at integers, so that a lens that points at the middle has cx = (W - 1) / 2.
  // They take the place of what is estimated: DUSt3R seeks the second camera with them (but for PoseMode::kAligned, which needs no lens),
  // VGGT's depth is put on their rays.
  // Points of a network's head stay as they are.
  std::vector<Intrinsics> intrinsics = {};
  // One lens made all photos, which must then have one size (turned by a quarter or not): one focal length, estimated from all of them. The
  // lens points where it is taken to point otherwise.
  bool shared_intrinsics = false;
  // Pictures of the size of their photos; what is black in them takes no part, in the search for cameras and in point clouds. A photo
  // without a mask has an entry with neither name nor bytes. A mask is turned as its photo is seen, or, without EXIF of its own, as it is
  // stored; where the size fits both, as it is seen, and a note says so.
  std::vector<Photo> masks = {};
  // The scene's world becomes the camera of the first view. Points go with the camera that sees them: each view's points keep their place
  // in its own camera frame, scaled by what the distances between the cameras say.
  KnownPoses poses = {};
  std::optional<double> baseline_metres = {};  // between the cameras of the first two photos
  // Between the points that two pixels show: of depth where clouds show depth (PointSource::kAuto), else of the head.
  std::optional<KnownDistance> distance = {};
};

// What reconstruct() refuses before it reads a photo: counts, numbers that are no lens, rotation or length. Throws Error{kInvalidArgument}
// naming the input and what was wanted of it.
void check_known_inputs(const KnownInputs& known, const std::vector<Photo>& photos);

// "FX,FY,CX,CY". Throws Error{kInvalidArgument} naming the text.
Intrinsics parse_intrinsics(std::string_view text);

// A text file with a line "fx fy cx cy" for each photo, or one line for all; blanks or commas between the numbers; what follows a # is a
// comment. Throws Error{kNotFound, kIoError} naming the file, Error{kCorruptData} naming file and line, Error{kLimitExceeded} beyond 16
// MiB.
std::vector<Intrinsics> read_intrinsics(const std::filesystem::path& file);

// "P,Q,METRES", where P and Q are "U:V" in the first photo or "N:U:V" in photo N, counted from 1. Throws Error{kInvalidArgument} naming the
// text.
KnownDistance parse_distance(std::string_view text);

// A TUM trajectory ("timestamp tx ty tz qx qy qz qw" on each line, camera-to-world, a line for each photo of `listed` in its order; of the
// photos as a person sees them) or a transforms.json (camera-to-world with OpenGL's axes, found by the photo's file name; of the pixels as
// stored). photos: those of the run; listed: those they were chosen from. Throws Error{kNotFound, kIoError} naming the file or a photo
// that it does not have, Error{kCorruptData} naming file, frame and what is wrong with it: rotations must be orthonormal and
// right-handed to 1e-3.
KnownPoses read_poses(const std::filesystem::path& file, const std::vector<std::string>& photos, const std::vector<std::string>& listed);

// The mask of each photo: of the same name in `folder`, with any extension that photos have ("left.png" or "left.jpg.png" for "left.jpg").
// Throws Error{kNotFound} naming the file that is missing, Error{kInvalidArgument} naming two that could be meant.
std::vector<Photo> find_masks(const std::filesystem::path& folder, const std::vector<std::string>& photos);

}  // namespace pointmap
