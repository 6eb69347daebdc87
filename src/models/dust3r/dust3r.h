// The DUSt3R network: two views in, a pointmap for each out, both in the camera frame of the first view.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "base/progress.h"
#include "models/dust3r/config.h"
#include "models/dust3r/decoder.h"
#include "models/dust3r/encoder.h"
#include "models/dust3r/heads.h"

namespace pointmap {

struct ViewPrediction {
  Tensor raw;         // [1, H, W, 4] before activation: x, y, z, confidence
  Pointmap pointmap;  // points in the frame of camera 1 (x right, y down, z forward), scale unknown; confidence above 1
};

// Features of a pair. Views of one shape are the halves of one batch, `first`; otherwise each has its own tensor.
struct EncodedPair {
  Tensor first;
  Tensor second;
  std::array<TensorView, 2> features;  // [1, N, C] of each view, in the tensors above
};

class Dust3r {
 public:
  // Throws Error{kUnsupported} for sizes that make no network. Whether all weights were there is for the caller of
  // WeightMap::report to ask.
  Dust3r(const WeightScope& w, const Dust3rConfig& config);

  // The three parts of a forward pass. Images [B, H, W, 3] in [-1, 1], sides multiples of the patch size; features [B, N, C]. What
  // an image becomes does not depend on its batch. probe_suffix: appended to the names of probes.
  Tensor encode(Ops& ops, TensorView images, const Progress& progress, std::string_view probe_suffix = "") const;
  // Images [1, H, W, 3], not necessarily of one shape.
  EncodedPair encode_pair(Ops& ops, TensorView image1, TensorView image2, const Progress& progress) const;
  std::array<DecodedView, 2> decode(Ops& ops, const std::array<TensorView, 2>& features, const std::array<PatchGrid, 2>& grids,
                                    const Progress& progress) const;
  // view: 0 or 1
  ViewPrediction head(Ops& ops, size_t view, TensorView features, const DecodedView& decoded) const;

  std::array<ViewPrediction, 2> forward(Ops& ops, TensorView image1, TensorView image2, const Progress& progress = {}) const;

  PatchGrid grid_of(TensorView image) const { return encoder.grid_of(image); }
  const Dust3rConfig& config() const { return config_; }

 private:
  Dust3rConfig config_;
  Encoder encoder;
  Decoder decoder;
  std::unique_ptr<Head> downstream_head1;
  std::unique_ptr<Head> downstream_head2;
};

}  // namespace pointmap
