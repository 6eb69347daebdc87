// OpenEXR bytes from one channel of depth: floats as they are, packed, with notes about them inside the file.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace pointmap {

// In the file's header: text, a number, or a matrix, row-major and for column vectors (EXR's own matrices are for row vectors, so say so).
using ExrAttribute = std::pair<std::string, std::variant<std::string, double, std::array<double, 9>, std::array<double, 16>>>;

// `depth` is [height, width] and becomes the channel Z, 32-bit float, scan lines from the top, ZIP compression. The same bytes for the
// same input: no time and no machine inside. Throws Error{kInvalidArgument} when the size does not fit or an attribute has no name.
std::vector<std::byte> encode_exr_depth(std::span<const float> depth, int width, int height, std::span<const ExrAttribute> attributes = {});

}  // namespace pointmap
