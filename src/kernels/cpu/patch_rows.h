// The rows of a matrix that need not exist in memory: rows of activations, or patches of an image for a convolution.
#pragma once

#include <cstdint>

#include "kernels/ops.h"
#include "tensor/tensor_view.h"

namespace pointmap::cpu {

// Row r of A is kernel_height segments, one for each line of the patch, each kernel_width pixels of `channels` floats: K order
// (ky, kx, channel). A plain matrix is the case of a 1 x 1 kernel over an image of one line.
struct PatchRows {
  const float* data = nullptr;  // pixel (b, y, x) at data + ((b * height + y) * width + x) * pixel_pitch
  int64_t pixel_pitch = 0;
  int64_t height = 1;
  int64_t width = 0;
  int64_t channels = 0;
  int64_t kernel_height = 1;
  int64_t kernel_width = 1;
  ConvGeometry geometry;
  int64_t out_height = 1;
  int64_t out_width = 0;
  int64_t num_rows = 0;  // M = batch * out_height * out_width
  bool relu = false;     // the product sees max(x, 0)

  int64_t depth() const { return kernel_height * kernel_width * channels; }  // K
};

// x rows [..., K] as a matrix.
PatchRows matrix_rows(TensorView x);
// Patches of x [B, H, W, I], one for each output pixel.
PatchRows conv_patches(TensorView x, const PackedConv2d& w, bool relu);

// Where line ky of the patches of some consecutive rows lies. One segment for the whole line if it is contiguous for all rows.
class PatchLines {
 public:
  static constexpr int64_t kMaxRows = 64;

  // Rows [first_row, first_row + count), and the last of them again up to `padded_count` <= kMaxRows pointers.
  // zeros: kernel_width * channels floats of padding.
  PatchLines(const PatchRows& a, int64_t first_row, int64_t count, int64_t padded_count, const float* zeros);

  // True when line ky of every row lies inside the image or wholly in the padding: one segment of kernel_width * channels
  // floats. Otherwise one call of find_pixel for each pixel. Fills pointers().
  bool find_line(int64_t ky);
  void find_pixel(int64_t ky, int64_t kx);
  const float* const* pointers() const { return pointers_; }

 private:
  const float* pixel(int64_t row, int64_t y, int64_t x) const;

  const PatchRows& a_;
  const int64_t count_;
  const float* zeros_;
  const float* image_[kMaxRows];
  int64_t top_[kMaxRows];  // of the patch in the image, negative in the padding
  int64_t left_[kMaxRows];
  const float* pointers_[kMaxRows];
};

}  // namespace pointmap::cpu
