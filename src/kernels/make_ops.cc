// The one file that may include every device's folder.
#include "kernels/make_ops.h"

#include "base/error.h"
#include "kernels/cpu/cpu_ops.h"
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

}  // namespace pointmap
