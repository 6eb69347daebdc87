// Any bytes as a .safetensors file and as a shard index: an Error or a table that keeps its promises, never a crash.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "base/error.h"
#include "io/safetensors/safetensors_header.h"
#include "io/safetensors/shard_index.h"

namespace {

void check(bool promise) {
  if (!promise) std::abort();
}

void read_header(std::span<const std::byte> bytes) {
  const pointmap::SafetensorsHeader header = pointmap::parse_safetensors_header(bytes, "fuzz");
  std::set<std::string> names;
  uint64_t covered = header.data_begin;
  for (const pointmap::SafetensorsEntry& entry : header.entries) {
    check(names.insert(entry.name).second);
    check(entry.begin == covered && entry.begin <= entry.end && entry.end <= bytes.size());
    check(entry.end - entry.begin == static_cast<uint64_t>(entry.shape.num_elements()) * pointmap::dtype_bytes(entry.dtype));
    covered = entry.end;
  }
  check(covered == bytes.size());
}

void read_index(std::span<const std::byte> bytes) {
  for (const auto& [tensor, file] : pointmap::parse_shard_index(bytes, "fuzz")) check(!file.empty() && file.find('/') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  for (auto* read : {&read_header, &read_index}) {
    try {
      read(bytes);
    } catch (const pointmap::Error&) {
    }
  }
  return 0;
}
