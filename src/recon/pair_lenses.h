// The lenses of a pair: known, or estimated from the points of each view in its own camera frame.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "geometry/focal.h"
#include "geometry/pinhole.h"
#include "pointmap/pointmap.h"

namespace pointmap {

// What the caller knows of them.
struct KnownLenses {
  std::array<std::optional<Intrinsics>, 2> network;  // in pixels of the network's picture
  bool shared = false;                               // one focal length for both, where none is known
};

struct LensInput {
  PointmapGrid own;  // points in the view's own camera frame, and which of them count
  ViewTransform transform;
};

struct PairLenses {
  std::array<Intrinsics, 2> network;
  std::array<bool, 2> are_guessed = {};  // the points imply no focal length and none is known: 60 degrees along the longer side
  std::vector<std::string> notes;        // what the user might wonder about
};

// kUpstream has the lens point at (W / 2, H / 2) of the network's picture and takes every pixel for what it says; the others have it point
// at the middle of the photo and leave out points that cannot be on their rays.
PairLenses find_pair_lenses(const std::array<LensInput, 2>& views, PoseMode mode, const KnownLenses& known);

// A note when a known focal length is more than 20 % off the estimate; empty when it is not, or one of them is no focal length. Both in
// pixels of the photo.
std::string focal_note(size_t view_index, double known_px, double estimated_px);

}  // namespace pointmap
