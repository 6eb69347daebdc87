#include "kernels/cpu/layer_norm.h"

#include "kernels/cpu/against_reference_test.h"

namespace pointmap::cpu {
namespace {

// The variance is a sum of C squares in at least 4 chains; its relative error, halved by the root, is that of the scale. The mean of
// the deviations is a sum whose partial sums grow like the root of their length: an error of about a rounding of one deviation.
// Besides: the difference, the scale, two multiply-adds and the reference's own rounding.
double tolerance_of(const Tensor& want, const Tensor& gamma, const Tensor& beta, int64_t i) {
  const int64_t channels = want.shape()[-1];
  const double y = want.data<float>()[i], shift = beta.data<float>()[i % channels], stretch = gamma.data<float>()[i % channels];
  const double of_scale = 4 + std::sqrt(static_cast<double>(channels) / 4) / 2;
  return kRounding * (of_scale * std::abs(y - shift) + std::abs(stretch) + 2 * std::abs(y) + std::abs(shift));
}

TEST(CpuLayerNorm, AgreesWithReference) {
  for_each_target([] {
    for (const int64_t channels : {1, 3, 16, 63, 64, 65, 192, 768, 1024}) {
      SCOPED_TRACE(testing::Message() << channels << " channels");
      TestBench b;
      const Tensor x = b.random({3, 5, channels}, 1), gamma = b.random({channels}, 2), beta = b.random({channels}, 3);
      const Tensor want = b.ref.layer_norm(x, gamma, beta, 1e-6f);
      expect_close(b.cpu.layer_norm(x, gamma, beta, 1e-6f), want, [&](int64_t i) { return tolerance_of(want, gamma, beta, i); });
    }
  });
}

TEST(CpuLayerNorm, KeepsItsDigitsFarFromZero) {
  for_each_target([] {
    TestBench b;
    const Tensor x = b.random({4, 1024}, 1, 1000.0f), gamma = b.random({1024}, 2), beta = b.random({1024}, 3);
    const Tensor want = b.ref.layer_norm(x, gamma, beta, 1e-6f);
    // What is left of the mean after subtracting its float, up to half a step at 1000, is summed with an error of its own size times
    // the root of the chain.
    const double left = 1000 * kRounding * kRounding * std::sqrt(1024.0 / 4);
    expect_close(b.cpu.layer_norm(x, gamma, beta, 1e-6f), want,
                 [&](int64_t i) { return tolerance_of(want, gamma, beta, i) + left * std::abs(gamma.data<float>()[i % 1024]); });
  });
}

TEST(CpuLayerNorm, ReadsStridedRows) {
  for_each_target([] {
    TestBench b;
    const Tensor x = b.random({6, 100}, 1), gamma = b.random({70}, 2), beta = b.random({70}, 3);
    const Tensor want = b.ref.layer_norm(x.view().slice_last(20, 90), gamma, beta, 1e-6f);
    expect_close(b.cpu.layer_norm(x.view().slice_last(20, 90), gamma, beta, 1e-6f), want,
                 [&](int64_t i) { return tolerance_of(want, gamma, beta, i); });
  });
}

TEST(CpuLayerNorm, ConstantRowsBecomeBeta) {
  for_each_target([] {
    TestBench b;
    const Tensor x = b.random({2, 100}, 1, 0.1f, 0), gamma = b.random({100}, 2), beta = b.random({100}, 3);
    const Tensor y = b.cpu.layer_norm(x, gamma, beta, 1e-6f);
    // eps keeps the scale at 1000: the rounding of the mean, 0.1 kRounding, may come through that much larger.
    expect_close(y, b.ref.layer_norm(x, gamma, beta, 1e-6f), [&](int64_t i) {
      return kRounding * (1000 * 0.1 * kRounding * std::abs(gamma.data<float>()[i % 100]) + 1 + 4 * std::abs(beta.data<float>()[i % 100]));
    });
  });
}

TEST(CpuLayerNorm, NormalisesHeadsInPlaceAndTouchesNothingElse) {
  for_each_target([] {
    for (const int64_t head_dim : {1, 20, 48, 64, 130}) {
      SCOPED_TRACE(testing::Message() << "heads of " << head_dim);
      TestBench b;
      const Shape shape{2, 5, 4 * head_dim + 3};
      const Tensor gamma = b.random({head_dim}, 2), beta = b.random({head_dim}, 3);
      const NormParameters norm{.gamma = gamma, .beta = beta, .eps = 1e-5f};
      Tensor got = b.random(shape, 1), heads = b.random({10, 3, head_dim}, 4);
      for (int64_t row = 0; row < 10; ++row) {
        std::copy_n(got.data<float>() + row * shape[2] + head_dim + 1, 3 * head_dim, heads.data<float>() + row * 3 * head_dim);
      }
      const Tensor before = b.random(shape, 1), of_heads = b.ref.layer_norm(heads, gamma, beta, 1e-5f);
      Tensor want = b.random(shape, 1);
      b.ref.layer_norm_heads(want, norm, head_dim + 1, 3);
      b.cpu.layer_norm_heads(got, norm, head_dim + 1, 3);
      expect_close(got, want, [&](int64_t i) {
        const int64_t c = i % shape[2] - head_dim - 1;
        if (c < 0 || c >= 3 * head_dim) return 0.0;
        const int64_t in_heads = i / shape[2] * 3 * head_dim + c;
        EXPECT_EQ(want.data<float>()[i], of_heads.data<float>()[in_heads]);  // the same as heads taken out
        return tolerance_of(of_heads, gamma, beta, in_heads);
      });
      for (int64_t i = 0; i < shape.num_elements(); ++i) {
        const int64_t c = i % shape[2] - head_dim - 1;
        const bool inside = c >= 0 && c < 3 * head_dim;
        EXPECT_TRUE(inside || got.data<float>()[i] == before.data<float>()[i]) << i;
      }
    }
  });
}

TEST(CpuLayerNorm, SameBitsForAnyNumberOfThreads) {
  expect_same_bits_for_any_number_of_threads([](TestBench& b) {
    return b.cpu.layer_norm(b.random({50, 96}, 1), b.random({96}, 2), b.random({96}, 3), 1e-6f);
  });
}

}  // namespace
}  // namespace pointmap::cpu
