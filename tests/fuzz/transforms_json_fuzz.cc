// Any text as a transforms.json: an Error or frames of finite numbers within the limits, never a crash.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "io/cameras/transforms_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto frames = pointmap::parse_transforms_json({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (frames.size() > pointmap::kMaxTransformsFrames) std::abort();
    for (const pointmap::TransformsFrame& frame : frames) {
      for (const double value : frame.matrix) {
        if (!std::isfinite(value)) std::abort();
      }
    }
  } catch (const pointmap::Error&) {
  }
  return 0;
}
