// Any bytes are an archive or an Error, never a crash, a hang or memory beyond the limits.
#include <cstddef>
#include <cstdint>
#include <span>

#include "io/npz/npy_header.h"
#include "io/npz/npz_file.h"

// The CRC of a member shields its header from nearly every mutation, so the header's parser is fed directly as well.
static void parse_header(std::span<const std::byte> bytes) {
  try {
    if (pointmap::parse_npy_header(bytes, "fuzz").data_offset > bytes.size()) __builtin_trap();
  } catch (const pointmap::Error&) {
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  parse_header(std::as_bytes(std::span(data, size)));
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
