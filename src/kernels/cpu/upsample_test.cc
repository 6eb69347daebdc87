#include "kernels/cpu/upsample.h"

#include "kernels/cpu/against_reference_test.h"

namespace pointmap::cpu {
namespace {

struct Sizes {
  int64_t in_height, in_width, out_height, out_width, channels;
};

TEST(CpuUpsample, AgreesWithReferenceInBothModes) {
  for_each_target([] {
    for (const UpsampleMode mode : {UpsampleMode::kAlignCorners, UpsampleMode::kHalfPixel}) {
      for (const Sizes& s : {Sizes{2, 3, 4, 6, 1}, Sizes{5, 7, 10, 14, 19}, Sizes{1, 4, 2, 8, 64}, Sizes{7, 1, 3, 5, 33},
                             Sizes{9, 9, 4, 3, 16}, Sizes{1, 1, 1, 1, 5}, Sizes{3, 3, 1, 1, 8}, Sizes{37, 37, 74, 74, 3}}) {
        SCOPED_TRACE(testing::Message() << s.in_height << " x " << s.in_width << " to " << s.out_height << " x " << s.out_width);
        TestBench b;
        Tensor x = b.random({2, s.in_height, s.in_width, s.channels}, 1);
        const Tensor got = b.cpu.upsample_bilinear(x, s.out_height, s.out_width, mode);
        const Tensor want = b.ref.upsample_bilinear(x, s.out_height, s.out_width, mode);
        for (int64_t i = 0; i < x.shape().num_elements(); ++i) x.data<float>()[i] = std::abs(x.data<float>()[i]);
        const Tensor magnitude = b.ref.upsample_bilinear(x, s.out_height, s.out_width, mode);  // sum of |weight value|
        // On each axis the weight, the product and the sum are rounded; then the reference.
        expect_close(got, want, [&](int64_t i) { return 7 * kRounding * static_cast<double>(magnitude.data<float>()[i]); });
      }
    }
  });
}

TEST(CpuUpsample, SameBitsForAnyNumberOfThreads) {
  expect_same_bits_for_any_number_of_threads([](TestBench& b) {
    return b.cpu.upsample_bilinear(b.random({2, 9, 11, 37}, 1), 18, 22, UpsampleMode::kAlignCorners);
  });
}

}  // namespace
}  // namespace pointmap::cpu
