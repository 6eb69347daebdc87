// Steps that loaders are made of: each moves pixels and, where it is told of a view, the transform with them.
#pragma once

#include <cstdint>
#include <string>

#include "recon/preprocess.h"

namespace pointmap {

struct PictureSize {
  int width = 0;
  int height = 0;
};

struct PictureBox {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
};

std::string size_text(int width, int height);  // "640x480"

// Python's round(): halves go to the even neighbour. The default floating-point rounding mode is assumed, as everywhere.
double round_half_even(double x);

// Throws Error{kLimitExceeded} naming the file when a picture made on the way would have more than 256 Mpixel.
void check_work_size(int64_t width, int64_t height, const std::string& name);

Image cropped(const Image& image, const PictureBox& box);
// `image` in the middle of a plain picture of that size; of an odd rest the larger part is right or below.
Image centred(const Image& image, PictureSize size, uint8_t value);

// Takes the box out of view.image, or puts it on white, and moves the transform along, whose scale is already that of the image.
void crop_view(PreparedView& view, const PictureBox& box);
void pad_view(PreparedView& view, PictureSize size);

}  // namespace pointmap
