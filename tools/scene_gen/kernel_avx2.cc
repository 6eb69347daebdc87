// The ray caster for one instruction set; see CMakeLists.txt for the compiler's options and kernel.cc for the choice.
#define SG_TARGET avx2
#include "render-inl.h"

namespace pointmap::scene_gen {

extern const Kernel kKernel_avx2;
const Kernel kKernel_avx2 = {"avx2", avx2::trace, avx2::visible, avx2::render};

}  // namespace pointmap::scene_gen
