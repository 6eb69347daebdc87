// The ops that are matrix products: how each one looks to gemm().
#include <algorithm>

#include "kernels/cpu/cpu_ops.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/pack_weights.h"
#include "kernels/cpu/winograd.h"

namespace pointmap {
namespace {

struct CpuLinear final : PackedLinear {
  cpu::PackedWeights weights;
};
struct CpuConv2d final : PackedConv2d {
  cpu::PackedWeights weights;
  bool winograd = false;  // packed for winograd_conv(), else for gemm()
};
struct CpuConvTranspose2d final : PackedConvTranspose2d {
  cpu::PackedWeights weights;
};

// Weights can only come from the same kind of Ops: anything else is a bug of the caller.
template <typename Cpu, typename Packed>
const Cpu& packed_here(const Packed& w, const char* op) {
  const auto* packed = dynamic_cast<const Cpu*>(&w);
  POINTMAP_CHECK(packed != nullptr, std::string(op) + ": the weights were packed by another Ops");
  return *packed;
}

// Rows of y from first_row on, one after the other.
cpu::GemmOutput plain_output(Tensor& y, int64_t first_row, int64_t num_rows) {
  return {.data = y.data<float>() + first_row * y.shape()[-1],
          .run_rows = std::max<int64_t>(1, num_rows),
          .row_pitch = y.shape()[-1],
          .group_offsets = {0}};
}

}  // namespace

std::unique_ptr<PackedLinear> CpuOps::do_pack_linear(TensorView weight, TensorView bias, TensorView scale) {
  auto packed = std::make_unique<CpuLinear>();
  cpu::WeightSource source = cpu::linear_source(weight, bias);
  source.scale = scale;
  packed->weights = cpu::pack_weights(source, context());
  return packed;
}

std::unique_ptr<PackedConv2d> CpuOps::do_pack_conv2d(TensorView weight, TensorView bias, ConvGeometry geometry) {
  auto packed = std::make_unique<CpuConv2d>();
  packed->winograd = cpu::winograd_fits(weight.shape(), geometry);
  packed->weights =
      packed->winograd ? cpu::pack_winograd(weight, bias, context()) : cpu::pack_weights(cpu::conv_source(weight, bias), context());
  return packed;
}

std::unique_ptr<PackedConvTranspose2d> CpuOps::do_pack_conv_transpose2d(TensorView weight, TensorView bias) {
  auto packed = std::make_unique<CpuConvTranspose2d>();
  packed->weights = cpu::pack_weights(cpu::conv_transpose_source(weight, bias), context());
  return packed;
}

void CpuOps::do_linear(TensorView x, const PackedLinear& w, const LinearOptions& options, OutputRows rows) {
  const cpu::PatchRows inputs = cpu::matrix_rows(x);
  const cpu::PackedWeights& weights = packed_here<CpuLinear>(w, "linear").weights;
  cpu::GemmOutput output = plain_output(rows.y, rows.first, inputs.num_rows);
  output.activation = options.activation;
  if (!options.residual.empty()) output.residual = options.residual.data<float>();
  cpu::gemm(inputs, weights, output, context());
}

void CpuOps::do_conv2d(TensorView x, const PackedConv2d& w, const ConvOptions& options, Tensor& y) {
  const auto& packed = packed_here<CpuConv2d>(w, "conv2d");
  if (packed.winograd) return cpu::winograd_conv(x, packed.weights, options, y, context());
  const cpu::PatchRows rows = cpu::conv_patches(x, w, options.relu_input);
  cpu::GemmOutput output = plain_output(y, 0, rows.num_rows);
  output.activation = options.activation;
  output.relu_residual = options.relu_residual;
  if (!options.residual.empty()) output.residual = options.residual.data<float>();
  cpu::gemm(rows, packed.weights, output, context());
}

// One product per pixel (i, j) of the kernel, all over the same rows; an input line becomes `stride` lines of the output.
void CpuOps::do_conv_transpose2d(TensorView x, const PackedConvTranspose2d& w, Tensor& y) {
  const cpu::PackedWeights& weights = packed_here<CpuConvTranspose2d>(w, "conv_transpose2d").weights;
  const int64_t line_pitch = y.shape()[2] * y.shape()[3];
  cpu::GemmOutput output{.data = y.data<float>(),
                         .run_rows = std::max<int64_t>(1, x.shape()[2]),
                         .run_pitch = w.stride * line_pitch,
                         .row_pitch = w.stride * w.out_channels,
                         .group_offsets = {}};
  for (int64_t i = 0; i < w.stride; ++i) {
    for (int64_t j = 0; j < w.stride; ++j) output.group_offsets.push_back(i * line_pitch + j * w.out_channels);
  }
  cpu::gemm(cpu::matrix_rows(x), weights, output, context());
}

}  // namespace pointmap
