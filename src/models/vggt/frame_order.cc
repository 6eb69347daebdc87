#include "models/vggt/frame_order.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/name_hash.h"

namespace pointmap {

std::vector<size_t> frame_order(Ops& ops, std::span<const TensorView> images) {
  std::vector<uint64_t> keys;
  keys.reserve(images.size());
  for (const TensorView& image : images) {
    const Tensor pixels = ops.download(ops.upload(image));
    keys.push_back(fnv1a_64({reinterpret_cast<const char*>(pixels.data<float>()), pixels.num_bytes()}));
  }
  std::vector<size_t> order(images.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!order.empty()) std::ranges::stable_sort(order.begin() + 1, order.end(), {}, [&](size_t frame) { return keys[frame]; });
  return order;
}

}  // namespace pointmap
