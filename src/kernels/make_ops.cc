// The one file that may include every device's folder.
#include "kernels/make_ops.h"

#include "base/error.h"
#include "kernels/cpu/cpu_ops.h"
#include "kernels/cpu/winograd.h"
#include "kernels/ref/ref_ops.h"

namespace pointmap {

std::unique_ptr<Ops> make_ops(Device device, const OpsContext& context) {
  switch (device) {
    case Device::kReference:
      return std::make_unique<RefOps>(context);
    case Device::kCpu:
      return std::make_unique<CpuOps>(context);
  }
  throw Error{kInternal, "make_ops: unknown device " + std::to_string(static_cast<int>(device))};
}

int64_t packed_conv2d_elements(Device device, const Shape& weight, ConvGeometry geometry) {
  const bool winograd = device == Device::kCpu && cpu::winograd_fits(weight, geometry);
  return winograd ? cpu::winograd_elements(weight) : weight.num_elements();
}

}  // namespace pointmap
