// Arrays and pictures as files in memory, for those who send them instead of writing them: the same bytes that the exporters write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pointmap/image.h"

namespace pointmap {

enum class NpzType { kFloat32, kFloat16 };

// One array of an archive. Its elements are borrowed: they must live until encode_npz returns.
struct NpzItem {
  std::string name;  // without ".npy"
  std::vector<int64_t> shape;
  std::vector<std::span<const float>> parts;  // one after another they are the elements, C order: the views of a scene, stacked
  NpzType type = NpzType::kFloat32;           // kFloat16: rounded to the nearest, beyond 65504 to infinity, as NumPy does it
};

// A NumPy archive that numpy.load opens. deflate_level: 0 stores, 1 (fast) to 12 (small) deflates. Throws Error{kInvalidArgument} naming
// the array whose parts do not fill its shape, and for names that are empty or repeated.
std::string encode_npz(const std::vector<NpzItem>& items, int deflate_level = 0);

// The same stored archive, to be sent without being put together first.
struct NpzPieces {
  std::vector<std::string_view> in_order;
  // Of what they refer to, beside the float32 elements of items with one part: these must live as long as the pieces are used.
  std::vector<std::shared_ptr<const void>> memory;
};

NpzPieces encode_npz_in_pieces(const std::vector<NpzItem>& items);

// An 8-bit colour PNG. Throws Error{kInvalidArgument} when the pixels do not fill the size, here and below.
std::string encode_png(const Image& image);

// grey: [height, width], 16 bits.
std::string encode_png_grey16(std::span<const uint16_t> grey, int width, int height);

// Appends to `text`, as JSON and HTML take such files: base64 of RFC 4648, section 4, with padding and without line breaks.
void encode_base64(std::string_view bytes, std::string& text);

}  // namespace pointmap
