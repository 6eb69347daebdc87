// What machine this is: every figure we print names it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pointmap {

struct CpuInfo {
  std::string model_name;             // as the kernel reports it, for example "AMD EPYC 7B13"
  int available_cores = 1;            // cores that this process may run on
  std::vector<std::string> features;  // of the ones our kernels care about: sse4_1 avx2 fma avx512f avx512_bf16 avx512_vnni amx_bf16 ...
};

CpuInfo read_cpu_info();

// Of one core, for sizing blocks of work; 512 KiB, the least of today's servers, when the system does not say.
size_t l2_cache_bytes();

}  // namespace pointmap
