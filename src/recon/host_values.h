// From the device to the scene.
#pragma once

#include <vector>

#include "kernels/ops.h"

namespace pointmap {

// All elements of an F32 tensor, whose memory is given back.
std::vector<float> download_values(Ops& ops, Tensor tensor);

}  // namespace pointmap
