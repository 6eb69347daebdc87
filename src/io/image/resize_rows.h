// The two inner loops of resizing, which take nearly all of its time. Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pointmap::resize_rows {

constexpr int kWeightBits = 22;
constexpr size_t kChannels = 3;
constexpr size_t kGroup = 4;        // taps of a sample are weighed by fours
constexpr size_t kSlackBytes = 16;  // rows that `across` reads and writes have as many behind them, of any value

// The weights of one axis: output sample i is made of source samples first[i], first[i] + 1, ...
struct Taps {
  size_t per_sample = 0;         // a multiple of kGroup; those that the filter does not reach weigh 0
  std::vector<size_t> first;     // [m]
  std::vector<size_t> count;     // [m], that the filter reaches
  std::vector<int32_t> weights;  // [m, per_sample] and kGroup more, with kWeightBits fractional bits

  std::span<const int32_t> weights_of(size_t i) const { return std::span(weights).subspan(i * per_sample, count[i]); }
};

// One row of RGB pixels along its width: in [n, 3], out [m, 3]. Sums fit 32 bits: |sum| <= 255 * sum |w|, and the negative lobes of both
// filters add less than 0.6 to sum w = 1.
void across(const uint8_t* in, const Taps& taps, uint8_t* out);
// One row from several: in [weights, stride], of each the first `count` bytes; out [count].
void down(const uint8_t* in, size_t stride, std::span<const int32_t> weights, size_t count, uint8_t* out);

// The same in plain loops.
void across_plainly(const uint8_t* in, const Taps& taps, uint8_t* out);
void down_plainly(const uint8_t* in, size_t stride, std::span<const int32_t> weights, size_t count, uint8_t* out);

}  // namespace pointmap::resize_rows
