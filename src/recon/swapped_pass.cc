#include "recon/swapped_pass.h"

#include <utility>

#include "recon/host_values.h"

namespace pointmap {

HostPointmap download_pointmap(Ops& ops, Pointmap pointmap) {
  return {.points = download_values(ops, std::move(pointmap.points)), .confidence = download_values(ops, std::move(pointmap.confidence))};
}

SwappedPass run_swapped_pass(const Dust3r& network, Ops& ops, const PairFeatures& pair, bool needs_first, const Progress& progress) {
  const auto& [features, grids] = pair;
  const std::array<DecodedView, 2> decoded = network.decode(ops, {features[1], features[0]}, {grids[1], grids[0]}, progress);
  const int num_heads = needs_first ? 2 : 1;
  SwappedPass swapped;
  progress.step("head", 0, num_heads);
  swapped.second = download_pointmap(ops, network.head(ops, 0, features[1], decoded[0]).pointmap);
  if (needs_first) {
    progress.step("head", 1, num_heads);
    swapped.first = download_pointmap(ops, network.head(ops, 1, features[0], decoded[1]).pointmap);
  }
  return swapped;
}

}  // namespace pointmap
