// The ray caster for one instruction set; see CMakeLists.txt for the compiler's options and kernel.cc for the choice.
#define SG_TARGET avx512
#include "render-inl.h"

namespace pointmap::scene_gen {

extern const Kernel kKernel_avx512;
const Kernel kKernel_avx512 = {"avx512", avx512::trace, avx512::visible, avx512::render};

}  // namespace pointmap::scene_gen
