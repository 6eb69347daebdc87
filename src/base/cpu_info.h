// What machine this is: every figure we print names it.
#pragma once

#include <string>
#include <vector>

namespace pointmap {

struct CpuInfo {
  std::string model_name;             // as the kernel reports it, for example "AMD EPYC 7B13"
  int available_cores = 1;            // cores that this process may run on
  std::vector<std::string> features;  // of the ones our kernels care about: sse4_1 avx2 fma avx512f avx512_bf16 avx512_vnni amx_bf16 ...
};

CpuInfo read_cpu_info();

}  // namespace pointmap
