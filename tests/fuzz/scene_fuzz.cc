// Any archive is a scene that can be shown, or an Error; any text is the description of one, or an Error.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "scene/confidence_filter.h"
#include "scene/import_npz.h"
#include "scene/import_scene_meta.h"

// The CRC of a member shields its content from nearly every mutation, so the description's reader is fed directly as well.
static void read_meta(std::string_view text) {
  try {
    if (pointmap::import_scene_meta(text, "fuzz").views.empty()) __builtin_trap();
  } catch (const pointmap::Error&) {
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read_meta({reinterpret_cast<const char*>(data), size});
  try {
    const auto file =
        pointmap::NpzFile::from_bytes(std::as_bytes(std::span(data, size)), "fuzz.npz", {.max_unpacked_bytes = uint64_t{64} << 20});
    pointmap::check_scene(pointmap::import_npz(file));
  } catch (const pointmap::Error&) {  // what hostile bytes deserve
  }
  return 0;
}
