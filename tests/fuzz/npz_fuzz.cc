// Any bytes are an archive or an Error, never a crash, a hang or memory beyond the limits.
#include <cstddef>
#include <cstdint>
#include <span>

#include "io/npz/npz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const pointmap::NpzFile file =
        pointmap::NpzFile::from_bytes(std::as_bytes(std::span(data, size)), "fuzz.npz", {.max_unpacked_bytes = uint64_t{64} << 20});
    for (const std::string& name : file.names()) {
      const pointmap::NpzArray& array = file.array(name);
      if (array.bytes.size() != array.view().num_bytes()) __builtin_trap();
    }
  } catch (const pointmap::Error&) {  // what hostile bytes deserve
  }
  return 0;
}
