// The ray caster for one instruction set; see CMakeLists.txt for the compiler's options and kernel.cc for the choice.
#define SG_TARGET baseline
#include "render-inl.h"

namespace pointmap::scene_gen {

extern const Kernel kKernel_baseline;
const Kernel kKernel_baseline = {"baseline", baseline::trace, baseline::visible, baseline::render};

}  // namespace pointmap::scene_gen
