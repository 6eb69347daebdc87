#include "kernels/cpu/patch_rows.h"

#include "base/check.h"

namespace pointmap::cpu {

PatchRows matrix_rows(TensorView x) {
  const int64_t num_rows = x.num_rows();
  return {.data = x.data<float>(),
          .pixel_pitch = x.row_stride(),
          .width = num_rows,
          .channels = x.shape()[-1],
          .geometry = {},
          .out_width = num_rows,
          .num_rows = num_rows};
}

PatchRows conv_patches(TensorView x, const PackedConv2d& w, bool relu) {
  const Shape& shape = x.shape();
  const auto out_size = [&](int64_t size, int64_t kernel) { return (size + 2 * w.geometry.padding - kernel) / w.geometry.stride + 1; };
  PatchRows a{.data = x.data<float>(),
              .pixel_pitch = shape[3],
              .height = shape[1],
              .width = shape[2],
              .channels = shape[3],
              .kernel_height = w.kernel_height,
              .kernel_width = w.kernel_width,
              .geometry = w.geometry,
              .out_height = out_size(shape[1], w.kernel_height),
              .out_width = out_size(shape[2], w.kernel_width),
              .relu = relu};
  a.num_rows = shape[0] * a.out_height * a.out_width;
  return a;
}

PatchLines::PatchLines(const PatchRows& a, int64_t first_row, int64_t count, int64_t padded_count, const float* zeros)
    : a_(a), count_(padded_count), zeros_(zeros) {
  POINTMAP_DCHECK(count >= 1 && count <= padded_count && padded_count <= kMaxRows);
  int64_t x = first_row % a.out_width;
  int64_t y = first_row / a.out_width % a.out_height;
  int64_t batch = first_row / a.out_width / a.out_height;
  for (int64_t i = 0; i < padded_count; ++i) {
    image_[i] = a.data + batch * a.height * a.width * a.pixel_pitch;
    top_[i] = y * a.geometry.stride - a.geometry.padding;
    left_[i] = x * a.geometry.stride - a.geometry.padding;
    if (i + 1 >= count || ++x < a.out_width) continue;
    x = 0;
    if (++y < a.out_height) continue;
    y = 0;
    ++batch;
  }
}

bool PatchLines::find_line(int64_t ky) {
  for (int64_t i = 0; i < count_; ++i) {
    const int64_t y = top_[i] + ky;
    if (y < 0 || y >= a_.height) {
      pointers_[i] = zeros_;
    } else if (left_[i] < 0 || left_[i] + a_.kernel_width > a_.width) {
      return false;
    } else {
      pointers_[i] = pixel(i, y, left_[i]);
    }
  }
  return true;
}

void PatchLines::find_pixel(int64_t ky, int64_t kx) {
  for (int64_t i = 0; i < count_; ++i) {
    const int64_t y = top_[i] + ky;
    const int64_t x = left_[i] + kx;
    pointers_[i] = y < 0 || y >= a_.height || x < 0 || x >= a_.width ? zeros_ : pixel(i, y, x);
  }
}

const float* PatchLines::pixel(int64_t row, int64_t y, int64_t x) const {
  return image_[row] + (y * a_.width + x) * a_.pixel_pitch;
}

}  // namespace pointmap::cpu
