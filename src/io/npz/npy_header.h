// The header in front of the elements of a .npy member: a Python dictionary with type, order and shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace pointmap {

struct NpyHeader {
  std::string descr;           // NumPy's type, for example "<f4"; the source text for a record type
  std::optional<DType> dtype;  // empty when descr is text, an object, a record, complex or big-endian
  bool fortran_order = false;
  std::vector<int64_t> dims;
  size_t data_offset = 0;  // where the elements begin
};

// Reads the header at the start of `bytes`, format versions 1 to 3. `what` names file and member in messages.
// Throws Error{kCorruptData} when it is not a well-formed header.
NpyHeader parse_npy_header(std::span<const std::byte> bytes, const std::string& what);

// A version 1 header for C order, padded so that the elements begin at a multiple of 64 bytes.
// Throws Error{kUnsupported} for BF16, which NumPy does not have.
std::string make_npy_header(DType dtype, const Shape& shape);

}  // namespace pointmap
