// A pair seen with its views exchanged: what a pose needs beside the ordinary pass.
#pragma once

#include <array>
#include <vector>

#include "base/progress.h"
#include "kernels/ops.h"
#include "models/dust3r/dust3r.h"

namespace pointmap {

struct HostPointmap {
  std::vector<float> points;      // [H, W, 3]
  std::vector<float> confidence;  // [H, W]
};

HostPointmap download_pointmap(Ops& ops, Pointmap pointmap);

// Both in the camera frame of view 2.
struct SwappedPass {
  HostPointmap second;  // view 2's own points
  HostPointmap first;   // view 1's; empty unless asked for
};

struct PairFeatures {
  std::array<TensorView, 2> features;  // [1, N, C] of view 1 and view 2
  std::array<PatchGrid, 2> grids;
};

// Decodes (view 2, view 1) from the features of the ordinary pass and runs head 1, which gives `second`; with needs_first head 2 as well.
// The maps have the bits of a whole pass over the exchanged pictures.
SwappedPass run_swapped_pass(const Dust3r& network, Ops& ops, const PairFeatures& pair, bool needs_first, const Progress& progress);

}  // namespace pointmap
