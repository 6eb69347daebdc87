// Convolutions and the patch embedding, channels last.
#pragma once

#include <memory>

#include "kernels/ops.h"
#include "nn/rope2d.h"
#include "nn/weight_map.h"

namespace pointmap {

class Conv2d {
 public:
  Conv2d(const WeightScope& w, const WeightScope::ConvShape& shape) : weight_(w.conv2d(shape)) {}
  // x [B, H, W, I] -> [B, H', W', O]
  Tensor forward(Ops& ops, TensorView x, const ConvOptions& options = {}) const { return ops.conv2d(x, *weight_, options); }

 private:
  std::unique_ptr<PackedConv2d> weight_;
};

// Kernel = stride: every input pixel becomes a block of its own.
class ConvTranspose2d {
 public:
  ConvTranspose2d(const WeightScope& w, int64_t in_channels, int64_t out_channels, int64_t stride)
      : weight_(w.conv_transpose2d(in_channels, out_channels, stride)) {}
  // x [B, H, W, I] -> [B, H s, W s, O]
  Tensor forward(Ops& ops, TensorView x) const { return ops.conv_transpose2d(x, *weight_); }

 private:
  std::unique_ptr<PackedConvTranspose2d> weight_;
};

// Patches [B, h w, C] as a map [B, h, w, C]: the same memory.
inline TensorView as_map(TensorView patches, PatchGrid grid) {
  return patches.reshape({patches.shape()[0], grid.height, grid.width, patches.shape()[2]});
}

// Cuts the image into patches and projects each: a convolution whose stride is its kernel.
class PatchEmbed {
 public:
  PatchEmbed(const WeightScope& w, int64_t dim, int64_t patch_size)
      : patch_size_(patch_size),
        proj(w["proj"], {.in_channels = 3, .out_channels = dim, .kernel = patch_size, .geometry = {.stride = patch_size}}) {}
  PatchGrid grid_of(TensorView image) const { return {image.shape()[1] / patch_size_, image.shape()[2] / patch_size_}; }
  // image [B, H, W, 3], H and W multiples of the patch size -> [B, N, C], patches in row-major order.
  // positions [B, h, w, C]: added to the patches; empty for none.
  Tensor forward(Ops& ops, TensorView image, TensorView positions = {}) const {
    POINTMAP_CHECK(image.shape()[1] % patch_size_ == 0 && image.shape()[2] % patch_size_ == 0,
                   "image is " + std::to_string(image.shape()[2]) + "x" + std::to_string(image.shape()[1]) +
                       ", width and height must be multiples of " + std::to_string(patch_size_));
    Tensor patches = proj.forward(ops, image, {.residual = positions});  // [B, h, w, C]
    const Shape tokens{patches.shape()[0], grid_of(image).num_patches(), patches.shape()[3]};
    return std::move(patches).reshaped(tokens);
  }

 private:
  int64_t patch_size_;
  Conv2d proj;
};

}  // namespace pointmap
