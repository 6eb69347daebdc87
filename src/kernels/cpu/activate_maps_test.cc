#include "kernels/cpu/activate_maps.h"

#include <cmath>
#include <limits>
#include <utility>

#include "kernels/cpu/against_reference_test.h"

namespace pointmap::cpu {
namespace {

TEST(CpuActivatePointmap, AgreesWithReference) {
  for_each_target([] {
    for (const auto& [width, magnitude] :
         {std::pair<int64_t, float>{1, 1.0f}, {7, 1e-9f}, {33, 0.01f}, {100, 1.0f}, {5000, 8.0f}, {64, 60.0f}}) {
      SCOPED_TRACE(testing::Message() << width << " pixels of magnitude " << magnitude);
      TestBench b;
      const Tensor raw = b.random({1, 2, width, 4}, 1, 0, magnitude);
      const Pointmap got = b.cpu.activate_pointmap_exp(raw), want = b.ref.activate_pointmap_exp(raw);
      // The norm carries 3 roundings, which expm1 multiplies by at most 1 + |r|; expm1 has 4, two products and a quotient 3, the
      // reference 1. Squares of components below 1e-19 vanish, and with them points of at most 1e-30.
      expect_close(got.points, want.points, [&](int64_t i) {
        const float* r = raw.data<float>() + i / 3 * 4;
        const double norm = std::hypot(r[0], r[1], r[2]);
        return kRounding * (3 * (1 + norm) + 8) * std::abs(static_cast<double>(want.points.data<float>()[i])) + 1e-30;
      });
      // expm1 4, the sum 1, the reference 1.
      expect_close(got.confidence, want.confidence,
                   [&](int64_t i) { return kRounding * 6 * static_cast<double>(want.confidence.data<float>()[i]); });
    }
  });
}

TEST(CpuActivatePointmap, SmallVectorsAndOverflowAreThoseOfFloat32) {
  for_each_target([] {
    TestBench b;
    Tensor raw(b.activations, DType::kF32, {1, 1, 4, 4});
    const float values[] = {1e-9f, 0, 0, 2.5f, 0, 0, 0, -200, 89, -1, 0, 89, 3, 4, 12, std::numeric_limits<float>::quiet_NaN()};
    std::copy(std::begin(values), std::end(values), raw.data<float>());
    const Pointmap got = b.cpu.activate_pointmap_exp(raw), want = b.ref.activate_pointmap_exp(raw);
    expect_close(got.points, want.points, [&](int64_t i) {
      return kRounding * 50 * std::abs(static_cast<double>(want.points.data<float>()[i]));
    });  // as above, |r| <= 13
    expect_close(got.confidence, want.confidence,
                 [&](int64_t i) { return kRounding * 6 * static_cast<double>(want.confidence.data<float>()[i]); });
  });
}

TEST(CpuActivatePointmap, InvLogAgreesWithReference) {
  for_each_target([] {
    for (const auto& [width, magnitude] : {std::pair<int64_t, float>{1, 1.0f}, {7, 1e-9f}, {33, 0.01f}, {100, 1.0f}, {5000, 8.0f}}) {
      SCOPED_TRACE(testing::Message() << width << " pixels of magnitude " << magnitude);
      TestBench b;
      Tensor raw = b.random({1, 2, width, 4}, 1, 0, magnitude);
      raw.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
      raw.data<float>()[1] = -90;  // -infinity
      const Pointmap got = b.cpu.activate_pointmap_inv_log(raw), want = b.ref.activate_pointmap_inv_log(raw);
      // expm1 4, the reference 1.
      expect_close(got.points, want.points,
                   [&](int64_t i) { return kRounding * 5 * std::abs(static_cast<double>(want.points.data<float>()[i])); });
      expect_close(got.confidence, want.confidence,
                   [&](int64_t i) { return kRounding * 6 * static_cast<double>(want.confidence.data<float>()[i]); });
    }
  });
}

TEST(CpuActivateDepth, AgreesWithReference) {
  for_each_target([] {
    for (const auto& [width, magnitude] : {std::pair<int64_t, float>{1, 1.0f}, {7, 1e-9f}, {33, 0.01f}, {100, 1.0f}, {5000, 15.0f}}) {
      SCOPED_TRACE(testing::Message() << width << " pixels of magnitude " << magnitude);
      TestBench b;
      const Tensor raw = b.random({1, 2, width, 2}, 1, 0, magnitude);
      const Depthmap got = b.cpu.activate_depth_exp(raw), want = b.ref.activate_depth_exp(raw);
      // exp 4, the reference 1.
      expect_close(got.depth, want.depth, [&](int64_t i) { return kRounding * 5 * static_cast<double>(want.depth.data<float>()[i]); });
      expect_close(got.confidence, want.confidence,
                   [&](int64_t i) { return kRounding * 6 * static_cast<double>(want.confidence.data<float>()[i]); });
    }
  });
}

TEST(CpuActivateMaps, SameBitsForAnyNumberOfThreads) {
  expect_same_bits_for_any_number_of_threads([](TestBench& b) {
    return std::move(b.cpu.activate_pointmap_exp(b.random({1, 3, 20001, 4}, 1)).points);
  });
  expect_same_bits_for_any_number_of_threads([](TestBench& b) {
    return std::move(b.cpu.activate_depth_exp(b.random({1, 3, 20001, 2}, 1)).depth);
  });
}

}  // namespace
}  // namespace pointmap::cpu
