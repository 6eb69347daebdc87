// Stands in for heif.cc in a build without libheif.
#include "base/error.h"
#include "io/image/codecs.h"

namespace pointmap::codec {

Picture decode_heif(const Source& source) {
  throw Error{kUnsupported, source.name + ": a HEIC file; this build of pointmap has no libheif"};
}

}  // namespace pointmap::codec
