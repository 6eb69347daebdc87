#include "kernels/cpu/cpu_ops.h"

#include <cstring>

#include "base/check.h"
#include "kernels/cpu/activate_maps.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/layer_norm.h"
#include "kernels/cpu/rope2d.h"
#include "kernels/cpu/upsample.h"

namespace pointmap {

CpuOps::CpuOps(const OpsContext& context) : Ops(context), name_(std::string("cpu ") + cpu::gemm_target_name()) {}

void CpuOps::do_attention(TensorView q, TensorView k, TensorView v, const AttentionShape& shape, Tensor& y) {
  cpu::attention(context().pool, context().activations, {.q = q, .k = k, .v = v, .num_heads = shape.num_heads, .scale = shape.scale},
                 y.data<float>());
}

void CpuOps::do_rope2d(Tensor& x, const RopeTable& table, int64_t channel_begin, int64_t num_heads) {
  cpu::rope2d(context().pool, x, table, {.begin = channel_begin, .num_heads = num_heads});
}

void CpuOps::do_layer_norm(TensorView x, TensorView gamma, TensorView beta, float eps, Tensor& y) {
  cpu::layer_norm(context().pool, {.x = x, .gamma = gamma, .beta = beta, .eps = eps}, y.data<float>());
}

void CpuOps::do_layer_norm_heads(Tensor& x, const NormParameters& norm, int64_t channel_begin, int64_t num_heads) {
  cpu::layer_norm_heads(context().pool, x, norm, {.channel_begin = channel_begin, .num_heads = num_heads});
}

void CpuOps::do_add(TensorView a, TensorView b, Tensor& y) {
  cpu::add(context().pool, a, b, y);
}

void CpuOps::do_multiply_add(TensorView a, TensorView b, TensorView c, Tensor& y) {
  cpu::multiply_add(context().pool, {.a = a, .b = b, .c = c}, y);
}

void CpuOps::do_at_least(TensorView x, TensorView floor, Tensor& y) {
  cpu::at_least(context().pool, x, floor, y);
}

void CpuOps::do_concat_last(TensorView a, TensorView b, Tensor& y) {
  cpu::concat_last(context().pool, a, b, y);
}

void CpuOps::do_add_columns_and_rows(Tensor& x, TensorView by_column, TensorView by_row) {
  cpu::add_columns_and_rows(context().pool, x, by_column, by_row);
}

void CpuOps::do_upsample_bilinear(TensorView x, UpsampleMode mode, Tensor& y) {
  cpu::upsample_bilinear(context().pool, x, mode, y);
}

void CpuOps::do_crop(TensorView x, Tensor& y) {
  cpu::crop(context().pool, x, y);
}

void CpuOps::do_pixel_shuffle(TensorView x, int64_t factor, Tensor& y) {
  cpu::pixel_shuffle(context().pool, x, factor, y);
}

void CpuOps::do_activate_pointmap_exp(TensorView raw, Pointmap& out) {
  cpu::activate_pointmap_exp(context().pool, raw, out);
}

void CpuOps::do_activate_pointmap_inv_log(TensorView raw, Pointmap& out) {
  cpu::activate_pointmap_inv_log(context().pool, raw, out);
}

void CpuOps::do_activate_depth_exp(TensorView raw, Depthmap& out) {
  cpu::activate_depth_exp(context().pool, raw, out);
}

void CpuOps::do_copy(const void* from, void* to, size_t bytes) {
  std::memcpy(to, from, bytes);
}

}  // namespace pointmap
