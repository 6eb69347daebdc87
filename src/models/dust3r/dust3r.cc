#include "models/dust3r/dust3r.h"

namespace pointmap {
namespace {

const Dust3rConfig& validated(const Dust3rConfig& config) {
  config.validate();
  return config;
}

}  // namespace

Dust3r::Dust3r(const WeightScope& w, const Dust3rConfig& config)
    : config_(validated(config)),
      encoder(w, config),
      decoder(w, config, head_layers(config)),
      downstream_head1(make_head(w["downstream_head1"], config, 1)),
      downstream_head2(make_head(w["downstream_head2"], config, 2)) {
  w.ignore("mask_token");  // left over from pre-training
}

Tensor Dust3r::encode(Ops& ops, TensorView images, const Progress& progress, std::string_view probe_suffix) const {
  return encoder.forward(ops, images, progress, probe_suffix);
}

EncodedPair Dust3r::encode_pair(Ops& ops, TensorView image1, TensorView image2, const Progress& progress) const {
  EncodedPair pair;
  if (image1.shape() == image2.shape()) {
    // One batch of two: every weight is read from memory once for both views.
    pair.first = encode(ops, ops.concat_first({image1, image2}), progress);  // [2, N, C]
    pair.features = {pair.first.view().slice_first(0, 1), pair.first.view().slice_first(1, 2)};
  } else {
    pair.first = encode(ops, image1, progress, ".0");
    pair.second = encode(ops, image2, progress, ".1");
    pair.features = {pair.first, pair.second};
  }
  return pair;
}

std::array<DecodedView, 2> Dust3r::decode(Ops& ops, const std::array<TensorView, 2>& features, const std::array<PatchGrid, 2>& grids,
                                          const Progress& progress) const {
  return decoder.forward(ops, features, grids, progress);
}

ViewPrediction Dust3r::head(Ops& ops, size_t view, TensorView features, const DecodedView& decoded) const {
  const Head& downstream_head = view == 0 ? *downstream_head1 : *downstream_head2;
  ViewPrediction prediction{.raw = downstream_head.forward(ops, features, decoded), .pointmap = {}};
  prediction.pointmap = ops.activate_pointmap_exp(prediction.raw);
  ops.probe(prediction.pointmap.points, "pts3d_", view + 1);
  ops.probe(prediction.pointmap.confidence, "conf_", view + 1);
  return prediction;
}

std::array<ViewPrediction, 2> Dust3r::forward(Ops& ops, TensorView image1, TensorView image2, const Progress& progress) const {
  const EncodedPair encoded = encode_pair(ops, image1, image2, progress);
  const std::array<PatchGrid, 2> grids = {grid_of(image1), grid_of(image2)};
  const std::array<DecodedView, 2> decoded = decode(ops, encoded.features, grids, progress);
  progress.step("head", 0, 2);
  ViewPrediction first = head(ops, 0, encoded.features[0], decoded[0]);
  progress.step("head", 1, 2);
  ViewPrediction second = head(ops, 1, encoded.features[1], decoded[1]);
  return {std::move(first), std::move(second)};
}

}  // namespace pointmap
