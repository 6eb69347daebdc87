#include "kernels/cpu/cpu_ops.h"

#include <cstring>

#include "base/check.h"
#include "kernels/cpu/gemm.h"

namespace pointmap {

CpuOps::CpuOps(const OpsContext& context) : Ops(context), name_(std::string("cpu ") + cpu::gemm_target_name()) {}

void CpuOps::do_copy(const void* from, void* to, size_t bytes) {
  std::memcpy(to, from, bytes);
}

}  // namespace pointmap
