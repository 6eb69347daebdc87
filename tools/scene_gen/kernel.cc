// Which of the compiled ray casters this processor can run.
#include "kernel.h"

#include <cstring>
#include <initializer_list>

namespace pointmap::scene_gen {

extern const Kernel kKernel_baseline;
#if defined(POINTMAP_SCENE_GEN_X86)
extern const Kernel kKernel_avx2, kKernel_avx512;
#endif

const Kernel* kernel_named(const char* name) {
#if defined(POINTMAP_SCENE_GEN_X86)
  const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (std::strcmp(name, "avx512") == 0) return has_avx512 ? &kKernel_avx512 : nullptr;
  if (std::strcmp(name, "avx2") == 0) return has_avx2 ? &kKernel_avx2 : nullptr;
#endif
  return std::strcmp(name, "baseline") == 0 ? &kKernel_baseline : nullptr;
}

const Kernel& best_kernel() {
  for (const char* name : {"avx512", "avx2"}) {
    if (const Kernel* kernel = kernel_named(name)) return *kernel;
  }
  return kKernel_baseline;
}

}  // namespace pointmap::scene_gen
