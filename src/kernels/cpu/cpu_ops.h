// Ops on the CPU, vectorised with the best instruction set that this machine has. Only wiring: the work is in the other files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kernels/ops.h"

namespace pointmap {

class CpuOps : public Ops {
 public:
  explicit CpuOps(const OpsContext& context);
  std::string_view name() const override { return name_; }  // for example "cpu AVX3"

 protected:
  std::unique_ptr<PackedLinear> do_pack_linear(TensorView weight, TensorView bias, TensorView scale) override;
  std::unique_ptr<PackedConv2d> do_pack_conv2d(TensorView weight, TensorView bias, ConvGeometry geometry) override;
  std::unique_ptr<PackedConvTranspose2d> do_pack_conv_transpose2d(TensorView weight, TensorView bias) override;
  void do_linear(TensorView x, const PackedLinear& w, const LinearOptions& options, OutputRows rows) override;
  void do_conv2d(TensorView x, const PackedConv2d& w, const ConvOptions& options, Tensor& y) override;
  void do_conv_transpose2d(TensorView x, const PackedConvTranspose2d& w, Tensor& y) override;
  void do_attention(TensorView q, TensorView k, TensorView v, const AttentionShape& shape, Tensor& y) override;
  void do_rope2d(Tensor& x, const RopeTable& table, int64_t channel_begin, int64_t num_heads) override;
  void do_layer_norm(TensorView x, TensorView gamma, TensorView beta, float eps, Tensor& y) override;
  void do_layer_norm_heads(Tensor& x, const NormParameters& norm, int64_t channel_begin, int64_t num_heads) override;
  void do_add(TensorView a, TensorView b, Tensor& y) override;
  void do_multiply_add(TensorView a, TensorView b, TensorView c, Tensor& y) override;
  void do_at_least(TensorView x, TensorView floor, Tensor& y) override;
  void do_concat_last(TensorView a, TensorView b, Tensor& y) override;
  void do_add_columns_and_rows(Tensor& x, TensorView by_column, TensorView by_row) override;
  void do_upsample_bilinear(TensorView x, UpsampleMode mode, Tensor& y) override;
  void do_crop(TensorView x, Tensor& y) override;
  void do_pixel_shuffle(TensorView x, int64_t factor, Tensor& y) override;
  void do_activate_pointmap_exp(TensorView raw, Pointmap& out) override;
  void do_activate_pointmap_inv_log(TensorView raw, Pointmap& out) override;
  void do_activate_depth_exp(TensorView raw, Depthmap& out) override;
  void do_copy(const void* from, void* to, size_t bytes) override;

 private:
  std::string name_;
};

}  // namespace pointmap
