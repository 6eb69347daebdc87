// The one place that chooses a device.
#pragma once

#include <memory>

#include "kernels/ops.h"

namespace pointmap {

enum class Device {
  kCpu,        // vectorised, the best instruction set that this machine has
  kReference,  // plain loops with double accumulation: slow, and what the others are judged by
};

std::unique_ptr<Ops> make_ops(Device device, const OpsContext& context);

// Floats that Ops::pack_conv2d of a device keeps for a weight [O, I, kh, kw], without the bias: for whoever predicts memory.
int64_t packed_conv2d_elements(Device device, const Shape& weight, ConvGeometry geometry);

}  // namespace pointmap
