// What the library is and what built it: reports name both, so it is known here and not on the floor above.
#include "pointmap/pointmap.h"

namespace pointmap {

std::string_view version() {
  return POINTMAP_VERSION;
}

std::string generator_name() {
  return "pointmap " POINTMAP_VERSION;
}

std::string_view compiler() {
#ifdef __clang__
  return __VERSION__;
#else
  return "GCC " __VERSION__;
#endif
}

}  // namespace pointmap
