// The baseline that knows what pairs look like on average and nothing about this one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "eval/pair_errors.h"

namespace pointmap {

// The truth of one pair at the network's pixels.
struct TruthMaps {
  PairGrids in_cam1;
  PointGrid second_in_cam2;  // view 2 in its own frame: its focal length follows from it, as for a network
};

// Adds up the truth of all pairs, by the size of their pictures, each divided by its mean distance; then gives, for one pair, the mean
// of the others.
class MeanPointmap {
 public:
  void add(const TruthMaps& truth);
  // Empty when no other pair has pictures of this size.
  std::optional<TruthMaps> without(const TruthMaps& own) const;

 private:
  using Size = std::array<int, 4>;  // width and height of both views
  struct Sum {
    std::vector<double> points;  // [H, W, 3]
    std::vector<int> count;      // [H, W]
  };
  struct Sums {
    std::array<Sum, 3> maps;  // in the order of TruthMaps
    int num_pairs = 0;
  };
  static Size size_of(const TruthMaps& truth);

  std::map<Size, Sums> sums_;
};

// The cameras that these maps imply, found as for a network: focal lengths from the pointmaps in their own frames, then PnP. The
// second camera stands where the first does when there is no pose. Focal lengths are in pixels of the maps.
PairCameras cameras_of(const TruthMaps& maps);

}  // namespace pointmap
