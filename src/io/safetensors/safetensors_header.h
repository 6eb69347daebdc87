// The table of contents of a .safetensors file, from its bytes. All distrust of the file lives here.
//
// Layout: 8 bytes little-endian header length N, N bytes of JSON (padded with spaces), then the tensors' bytes back to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace pointmap {

inline constexpr uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;  // the limit of the format itself
inline constexpr size_t kMaxTensorsPerFile = 100'000;                // DUSt3R has 1001, VGGT 1797

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  uint64_t begin = 0;     // bytes from the start of the file; end - begin is shape times type
  uint64_t end = 0;       // one past the last byte
  size_t file_index = 0;  // which of Checkpoint::files() holds it
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;        // in the order of their bytes
  std::map<std::string, std::string> metadata;  // `__metadata__`
  uint64_t data_begin = 0;                      // bytes from the start of the file to the first tensor
};

// Reads and checks the header of the file whose whole contents are `file_bytes`; file_name is for messages only. Throws
// Error{kCorruptData} naming the file and the tensor, {kUnsupported} for a type or rank we do not have, {kLimitExceeded} for a
// header or a number of tensors beyond the limits above.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file_bytes, const std::string& file_name);

}  // namespace pointmap
