// 3 x 3 convolutions of stride 1 and padding 1 by Winograd's F(4 x 4, 3 x 3): the output is cut into tiles of 4 x 4 pixels, and 36
// products for each pair of channels make a tile, instead of 144. Input patches V = B^T d B, weights U = G g G^T, outputs
// A^T (sum over channels of U V) A, with one-dimensional matrices A, B, G that follow from six points (winograd_points.h).
#pragma once

#include "kernels/cpu/gemm.h"
#include "kernels/ops.h"

namespace pointmap::cpu {

// Whether a convolution with these weights [O, I, kh, kw] goes this way, whatever the size of its images.
bool winograd_fits(const Shape& weight, ConvGeometry geometry);

// Floats that pack_winograd() makes of a weight whose O fills panels.
int64_t winograd_elements(const Shape& weight);

// U in panels [output panel][point (36)][I][panel_width], which are those of a product of depth 36 I; four times the weights'
// memory. Weight F32, F16 or BF16, bias [O] or empty.
PackedWeights pack_winograd(TensorView weight, TensorView bias, const OpsContext& context);

// y [B, H, W, O] = activation(conv(x) + bias) + residual for x [B, H, W, I]. Sums are in one order, whatever block or thread
// computes them. An infinity or NaN in a patch makes the whole tile NaN. Scratch memory comes from the activations arena. Throws
// Error{kInternal} when the weights were packed for another instruction set.
void winograd_conv(TensorView x, const PackedWeights& w, const ConvOptions& options, Tensor& y, const OpsContext& context);

}  // namespace pointmap::cpu
