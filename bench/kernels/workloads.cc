#include "workloads.h"

#include <random>
#include <utility>

#include "kernels/make_ops.h"

namespace pointmap::bench {
namespace {

// std::function wants copies: what a workload owns is shared by the copies of its function and goes with the last one.
template <typename T>
std::shared_ptr<T> keep(T value) {
  return std::make_shared<T>(std::move(value));
}

struct Block {
  std::unique_ptr<PackedLinear> qkv, proj, fc1, fc2;
};

}  // namespace

Bench::Bench(size_t num_threads) : pool_(num_threads), ops_(make_ops(Device::kCpu, {pool_, weights_, activations_})) {}

Tensor Bench::normal(const Shape& shape) {
  Tensor t(activations_, DType::kF32, shape);
  std::minstd_rand random(1);
  for (int64_t i = 0; i < shape.num_elements(); ++i) t.data<float>()[i] = static_cast<float>(random() % 2001) * 1e-3f - 1.0f;
  return t;
}

Workload product(Bench& bench, const GemmShape& shape) {
  const auto x = keep(bench.normal({shape.rows, shape.depth}));
  const std::shared_ptr<PackedLinear> w = bench.ops().pack_linear(bench.normal({shape.columns, shape.depth}), {});
  return {"pointmap", shape.flops(), [&bench, x, w] { bench.ops().linear(*x, *w); }};
}

Workload product_of(const Yardstick& yardstick, Bench& bench, const GemmShape& shape) {
  const auto x = keep(bench.normal({shape.rows, shape.depth})), w = keep(bench.normal({shape.columns, shape.depth}));
  const auto y = keep(bench.normal({shape.rows, shape.columns}));
  return {yardstick.name, shape.flops(),
          [yardstick, shape, x, w, y] { yardstick.multiply(shape, x->data<float>(), w->data<float>(), y->data<float>()); }};
}

Workload transformer_linears(Bench& bench, int64_t tokens, int64_t dim, int64_t num_blocks) {
  const auto blocks = keep(std::vector<Block>());
  const auto pack = [&bench](int64_t outputs, int64_t inputs) {
    return bench.ops().pack_linear(bench.normal({outputs, inputs}), bench.normal({outputs}));
  };
  for (int64_t i = 0; i < num_blocks; ++i) {
    blocks->push_back({pack(3 * dim, dim), pack(dim, dim), pack(4 * dim, dim), pack(dim, 4 * dim)});
  }
  const auto x = keep(bench.normal({tokens, dim}));
  const double flops = 2.0 * 12 * static_cast<double>(tokens * dim * dim * num_blocks);
  return {"linears of " + std::to_string(num_blocks) + " blocks, " + std::to_string(tokens) + " tokens of " + std::to_string(dim), flops,
          [&bench, blocks, x] {
            Ops& ops = bench.ops();
            for (const Block& block : *blocks) {
              ops.linear(*x, *block.qkv);
              ops.linear(*x, *block.proj, {.residual = *x});
              const Tensor hidden = ops.linear(*x, *block.fc1, {.activation = Activation::kGelu});
              ops.linear(hidden, *block.fc2, {.residual = *x});
            }
          }};
}

Workload convolution(Bench& bench, int64_t size, int64_t in_channels, int64_t out_channels, int64_t kernel) {
  const auto x = keep(bench.normal({1, size, size, in_channels}));
  const std::shared_ptr<PackedConv2d> w =
      bench.ops().pack_conv2d(bench.normal({out_channels, in_channels, kernel, kernel}), {}, {.stride = 1, .padding = kernel / 2});
  const double flops = 2.0 * static_cast<double>(size * size * in_channels * out_channels * kernel * kernel);
  return {std::to_string(kernel) + " x " + std::to_string(kernel) + ", " + std::to_string(size) + "^2, " + std::to_string(in_channels) +
              " -> " + std::to_string(out_channels),
          flops, [&bench, x, w] { bench.ops().conv2d(*x, *w); }};
}

Workload patch_embedding(Bench& bench, int64_t size) {
  const auto x = keep(bench.normal({1, size, size, 3}));
  const std::shared_ptr<PackedConv2d> w = bench.ops().pack_conv2d(bench.normal({1024, 3, 16, 16}), {}, {.stride = 16, .padding = 0});
  const double flops = 2.0 * static_cast<double>(size * size * 3 * 1024);
  return {"16 x 16 / 16, " + std::to_string(size) + "^2, 3 -> 1024", flops, [&bench, x, w] { bench.ops().conv2d(*x, *w); }};
}

Workload transposed_convolution(Bench& bench, int64_t size, int64_t channels, int64_t stride) {
  const auto x = keep(bench.normal({1, size, size, channels}));
  const std::shared_ptr<PackedConvTranspose2d> w =
      bench.ops().pack_conv_transpose2d(bench.normal({channels, channels, stride, stride}), {});
  const double flops = 2.0 * static_cast<double>(size * size * channels * channels * stride * stride);
  return {"transposed " + std::to_string(stride) + " x " + std::to_string(stride) + ", " + std::to_string(size) + "^2, " +
              std::to_string(channels) + " -> " + std::to_string(channels),
          flops, [&bench, x, w] { bench.ops().conv_transpose2d(*x, *w); }};
}

Workload attention(Bench& bench, int64_t tokens, int64_t num_heads) {
  const int64_t head_dim = 64, dim = num_heads * head_dim;
  const auto qkv = keep(bench.normal({1, tokens, 3 * dim}));
  const double flops = 4.0 * static_cast<double>(tokens * tokens * dim);
  return {std::to_string(num_heads) + " heads of 64, " + std::to_string(tokens) + " tokens", flops, [&bench, qkv, dim, num_heads] {
            const TensorView all = *qkv;
            bench.ops().attention(all.slice_last(0, dim), all.slice_last(dim, 2 * dim), all.slice_last(2 * dim, 3 * dim), num_heads,
                                  0.125f);
          }};
}

}  // namespace pointmap::bench
