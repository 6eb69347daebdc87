// Any text as a config.json: an Error or values within the limits, never a crash.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "io/config/config_parser.h"

namespace {

size_t count_values(const pointmap::ConfigValue& value, size_t depth) {
  if (depth > pointmap::kMaxConfigDepth) std::abort();
  size_t count = 1;
  if (const auto* list = std::get_if<pointmap::ConfigValue::List>(&value.value)) {
    for (const pointmap::ConfigValue& inner : *list) count += count_values(inner, depth + 1);
  } else if (const auto* object = std::get_if<pointmap::ConfigValue::Object>(&value.value)) {
    for (const pointmap::ConfigMember& member : *object) count += count_values(member.value, depth + 1);
  }
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const pointmap::ConfigMap config = pointmap::parse_config({reinterpret_cast<const char*>(data), size}, "fuzz");
    size_t count = 1;
    for (const pointmap::ConfigMember& member : config.members()) {
      count += count_values(member.value, 1);
      if (config.find(member.key) != &member.value) std::abort();  // no key twice
      try {
        (void)config.get_int(member.key);
      } catch (const pointmap::Error&) {
      }
    }
    if (count > pointmap::kMaxConfigValues) std::abort();
  } catch (const pointmap::Error&) {
  }
  return 0;
}
