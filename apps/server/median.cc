#include "apps/server/median.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace pointmap::server {

namespace {

// Classes: the upper half of a float, in the order of the floats. 128 of them for each power of two.
constexpr size_t kNumClasses = 1 << 16;
// Infinities and NaN are before and behind these.
constexpr size_t kFirstFinite = 0x80, kEndFinite = kNumClasses - 0x80;

constexpr uint32_t kSign = uint32_t{1} << 31;

size_t class_of(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return (bits ^ ((0 - (bits >> 31)) | kSign)) >> 16;
}

}  // namespace

std::optional<double> median_of_finite(std::span<const float> values) {
  std::vector<uint32_t> counts(kNumClasses);
  for (const float value : values) ++counts[class_of(value)];
  const size_t num_finite = std::accumulate(counts.begin() + kFirstFinite, counts.begin() + kEndFinite, size_t{0});
  if (num_finite == 0) return std::nullopt;
  // The middle two (or the middle one twice) by their places in the order, and the classes they are in.
  const size_t lower = (num_finite - 1) / 2, upper = num_finite / 2;
  size_t first_class = kFirstFinite, num_before = 0;
  while (num_before + counts[first_class] <= lower) num_before += counts[first_class++];
  size_t last_class = first_class, num_until = num_before + counts[first_class];
  while (num_until <= upper) num_until += counts[++last_class];
  // Only these classes are sorted as far as it takes; between them there is nothing.
  std::vector<float> middle;
  middle.reserve(num_until - num_before);
  for (const float value : values) {
    // One comparison, seldom true: two, each of them true for half of the values, cost more than all else here.
    if (class_of(value) - first_class <= last_class - first_class) middle.push_back(value);
  }
  const auto at_upper = middle.begin() + static_cast<std::ptrdiff_t>(upper - num_before);
  std::nth_element(middle.begin(), at_upper, middle.end());
  const double high = *at_upper;
  const double low = lower == upper ? high : *std::max_element(middle.begin(), at_upper);
  return (low + high) / 2;
}

}  // namespace pointmap::server
