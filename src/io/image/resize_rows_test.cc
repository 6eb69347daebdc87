// On every instruction set of this machine, bit for bit against plain loops.
#include "io/image/resize_rows.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/cpu/for_each_target_test.h"

namespace pointmap::resize_rows {
namespace {

// Any weights whose sums keep within 32 bits; the filters' own are in resize_test.
class Random {
 public:
  std::vector<uint8_t> samples(size_t count) {
    std::vector<uint8_t> out(count);
    for (uint8_t& sample : out) sample = static_cast<uint8_t>(engine_() >> 24);
    return out;
  }
  std::vector<int32_t> weights(size_t count) {
    std::vector<int32_t> out(count);
    const auto limit = static_cast<int32_t>((int64_t{1} << 31) / 256 / static_cast<int64_t>(count));
    for (int32_t& weight : out) weight = std::uniform_int_distribution<int32_t>(-limit / 2, limit)(engine_);
    return out;
  }
  size_t below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(engine_); }

 private:
  std::mt19937 engine_{11};
};

TEST(ResizeRows, AcrossIsThatOfPlainLoops) {
  cpu::for_each_target([] {
    Random random;
    for (const size_t max_count : {1, 2, 3, 4, 5, 7, 8, 13, 32}) {
      constexpr size_t kIn = 40, kOut = 57;
      Taps taps;
      taps.per_sample = (max_count + kGroup - 1) / kGroup * kGroup;
      taps.weights.resize(kOut * taps.per_sample + kGroup);
      for (size_t i = 0; i < kOut; ++i) {
        const size_t count = 1 + random.below(max_count);
        taps.count.push_back(count);
        taps.first.push_back(i + 1 == kOut ? kIn - count : random.below(kIn - count + 1));  // the last one at the end
        const std::vector<int32_t> weights = random.weights(count);
        std::copy(weights.begin(), weights.end(), taps.weights.begin() + static_cast<std::ptrdiff_t>(i * taps.per_sample));
      }
      const std::vector<uint8_t> in = random.samples(kChannels * kIn + kSlackBytes);
      std::vector<uint8_t> got(kChannels * kOut + kSlackBytes), want(kChannels * kOut);
      across(in.data(), taps, got.data());
      across_plainly(in.data(), taps, want.data());
      got.resize(want.size());
      EXPECT_EQ(got, want) << max_count << " taps";
    }
  });
}

TEST(ResizeRows, DownIsThatOfPlainLoops) {
  cpu::for_each_target([] {
    Random random;
    for (const size_t count : {1, 15, 16, 63, 64, 65, 200}) {
      for (const size_t num_weights : {1, 2, 7, 20}) {
        const size_t stride = count + 3;
        const std::vector<uint8_t> in = random.samples(stride * (num_weights - 1) + count);  // not a byte more
        const std::vector<int32_t> weights = random.weights(num_weights);
        std::vector<uint8_t> got(count), want(count);
        down(in.data(), stride, weights, count, got.data());
        down_plainly(in.data(), stride, weights, count, want.data());
        EXPECT_EQ(got, want) << count << " samples of " << num_weights << " rows";
      }
    }
  });
}

}  // namespace
}  // namespace pointmap::resize_rows
