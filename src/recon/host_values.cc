#include "recon/host_values.h"

#include <utility>

namespace pointmap {

std::vector<float> download_values(Ops& ops, Tensor tensor) {
  const Tensor host = ops.download(std::move(tensor));
  const float* values = host.data<float>();
  return {values, values + host.shape().num_elements()};
}

}  // namespace pointmap
