// The bytes of a .npy file: what numpy.load opens, and what the members of a .npz are.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace pointmap {

// `elements` in C order. Throws Error{kInvalidArgument} when they are not as many bytes as shape and type say, Error{kUnsupported} for
// BF16, which NumPy does not have.
std::vector<std::byte> encode_npy(DType dtype, const Shape& shape, std::span<const std::byte> elements);

}  // namespace pointmap
