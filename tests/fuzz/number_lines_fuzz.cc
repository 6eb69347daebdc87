// Any text as lines of numbers: an Error or finite numbers, so many to a line, never a crash.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "io/cameras/number_lines.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    size_t last = 0;
    for (const pointmap::NumberLine& line : pointmap::parse_number_lines({reinterpret_cast<const char*>(data), size}, "fuzz", "a b c d")) {
      if (line.values.size() != 4 || line.line <= last) std::abort();
      for (const double value : line.values) {
        if (!std::isfinite(value)) std::abort();
      }
      last = line.line;
    }
  } catch (const pointmap::Error&) {
  }
  return 0;
}
