// What the caller knows about the photos, so that nobody has to estimate it.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "pointmap/camera.h"
#include "pointmap/photos.h"

namespace pointmap {

// Lists are empty where nothing is known, or have an entry for each photo, in their order. All of it is checked before heavy work.
struct KnownInputs {
  // Of each photo, or one for all. In pixels of the photo as the preset takes it (as a person sees it: EXIF orientation applied; only
  // vggt_crop and vggt_pad ignore EXIF), pixel centres at integers, so that a lens that points at the middle has cx = (W - 1) / 2. They
  // take the place of what is estimated: DUSt3R seeks the second camera with them, VGGT's depth is put on their rays. Points of a network's
  // head stay as they are.
  std::vector<Intrinsics> intrinsics = {};
  // One lens made all photos, which must then have one size (turned by a quarter or not): one focal length, estimated from all of them. The
  // lens points where it is taken to point otherwise.
  bool shared_intrinsics = false;
};

// "FX,FY,CX,CY". Throws Error{kInvalidArgument} naming the text.
Intrinsics parse_intrinsics(std::string_view text);

// A text file with a line "fx fy cx cy" for each photo, or one line for all; blanks or commas between the numbers; what follows a # is a
// comment. Throws Error{kNotFound, kIoError} naming the file, Error{kCorruptData} naming file and line, Error{kLimitExceeded} beyond 16
// MiB.
std::vector<Intrinsics> read_intrinsics(const std::filesystem::path& file);

}  // namespace pointmap
