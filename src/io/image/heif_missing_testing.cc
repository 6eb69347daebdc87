// Stands in for heif_testing.cc in a build without libheif.
#include "io/image/fixtures_testing.h"

namespace pointmap::fixtures {

Bytes make_heic(const Image& /*image*/, bool /*with_alpha*/) {
  return {};
}

}  // namespace pointmap::fixtures
