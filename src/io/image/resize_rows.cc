#include "io/image/resize_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "io/image/resize_rows.cc"  // NOLINT
#include "hwy/foreach_target.h"                       // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace pointmap::resize_rows::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void across_row(const uint8_t* in, const Taps& taps, uint8_t* out) {
  across_plainly(in, taps, out);
}

void down_rows(const uint8_t* in, size_t stride, const int32_t* weights, size_t num_weights, size_t count, uint8_t* out) {
  down_plainly(in, stride, {weights, num_weights}, count, out);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

template <class V, class D = hn::DFromV<V> >
HWY_INLINE hn::Vec<hn::Rebind<uint8_t, D> > to_bytes(V sums) {
  return hn::DemoteTo(hn::Rebind<uint8_t, D>(), hn::ShiftRight<kWeightBits>(sums));  // saturates
}

// Lanes 0..3 of the sum of all groups of four lanes.
HWY_INLINE hn::Vec128<int32_t> sum_of_groups(hn::Vec128<int32_t> v) {
  return v;
}
template <class V>
HWY_INLINE hn::Vec128<int32_t> sum_of_groups(V v) {
  const hn::Half<hn::DFromV<V> > half;
  return sum_of_groups(hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
}

// A vector holds 1, 2 or 4 pixels of four lanes, the last lane idle.
void across_row(const uint8_t* HWY_RESTRICT in, const Taps& taps, uint8_t* HWY_RESTRICT out) {
  using Sums = hn::CappedTag<int32_t, 16>;
  using Bytes = hn::Rebind<uint8_t, Sums>;
  constexpr size_t kPixels = hn::MaxLanes(Sums()) / 4;
  static_assert(kGroup % kPixels == 0);
  const Sums d;
  const Bytes d8;
  const hn::FixedTag<int32_t, 4> d4;
  constexpr uint8_t kIdle = 0x80;  // such lanes become 0
  HWY_ALIGN constexpr uint8_t kSpread[16] = {0, 1, 2, kIdle, 3, 4, 5, kIdle, 6, 7, 8, kIdle, 9, 10, 11, kIdle};
  HWY_ALIGN constexpr int32_t kOfPixel[16] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  const auto spread = hn::Load(d8, kSpread);
  const auto of_pixel = hn::SetTableIndices(d, kOfPixel);
  const auto half = hn::Set(d4, 1 << (kWeightBits - 1));
  for (size_t x = 0; x < taps.first.size(); ++x) {
    const uint8_t* pixels = in + kChannels * taps.first[x];
    const int32_t* weights = taps.weights.data() + x * taps.per_sample;
    auto sums = hn::Zero(d);
    for (size_t k = 0; k < taps.count[x]; k += kPixels) {
      const auto values = hn::PromoteTo(d, hn::TableLookupBytesOr0(hn::LoadU(d8, pixels + kChannels * k), spread));
      const auto weight = hn::TableLookupLanes(hn::LoadDup128(d, weights + k), of_pixel);
      sums = hn::Add(sums, hn::Mul(values, weight));
    }
    hn::StoreU(to_bytes(hn::Add(sum_of_groups(sums), half)), hn::Rebind<uint8_t, decltype(d4)>(), out + kChannels * x);
  }
}

void down_rows(const uint8_t* HWY_RESTRICT in, size_t stride, const int32_t* weights, size_t num_weights, size_t count,
               uint8_t* HWY_RESTRICT out) {
  const hn::ScalableTag<int32_t> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  // Four sums at a time, so that one need not wait for the next.
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    auto sum0 = hn::Set(d, 1 << (kWeightBits - 1)), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    for (size_t k = 0; k < num_weights; ++k) {
      const uint8_t* row = in + k * stride + i;
      const auto weight = hn::Set(d, weights[k]);
      sum0 = hn::Add(sum0, hn::Mul(weight, hn::PromoteTo(d, hn::LoadU(d8, row))));
      sum1 = hn::Add(sum1, hn::Mul(weight, hn::PromoteTo(d, hn::LoadU(d8, row + lanes))));
      sum2 = hn::Add(sum2, hn::Mul(weight, hn::PromoteTo(d, hn::LoadU(d8, row + 2 * lanes))));
      sum3 = hn::Add(sum3, hn::Mul(weight, hn::PromoteTo(d, hn::LoadU(d8, row + 3 * lanes))));
    }
    hn::StoreU(to_bytes(sum0), d8, out + i);
    hn::StoreU(to_bytes(sum1), d8, out + i + lanes);
    hn::StoreU(to_bytes(sum2), d8, out + i + 2 * lanes);
    hn::StoreU(to_bytes(sum3), d8, out + i + 3 * lanes);
  }
  down_plainly(in + i, stride, {weights, num_weights}, count - i, out + i);
}

#endif

}  // namespace pointmap::resize_rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pointmap::resize_rows {

HWY_EXPORT(across_row);
HWY_EXPORT(down_rows);

namespace {

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

uint8_t to_byte(int32_t sum) {
  const int32_t value = sum >> kWeightBits;
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

}  // namespace

void across(const uint8_t* in, const Taps& taps, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(across_row)(in, taps, out);
}

void down(const uint8_t* in, size_t stride, std::span<const int32_t> weights, size_t count, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(down_rows)(in, stride, weights.data(), weights.size(), count, out);
}

void across_plainly(const uint8_t* in, const Taps& taps, uint8_t* out) {
  for (size_t x = 0; x < taps.first.size(); ++x) {
    for (size_t c = 0; c < kChannels; ++c) {
      int32_t sum = kHalf;
      size_t sample = kChannels * taps.first[x] + c;
      for (const int32_t weight : taps.weights_of(x)) {
        sum += weight * in[sample];
        sample += kChannels;
      }
      out[kChannels * x + c] = to_byte(sum);
    }
  }
}

void down_plainly(const uint8_t* in, size_t stride, std::span<const int32_t> weights, size_t count, uint8_t* out) {
  for (size_t i = 0; i < count; ++i) {
    int32_t sum = kHalf;
    for (size_t k = 0; k < weights.size(); ++k) sum += weights[k] * in[k * stride + i];
    out[i] = to_byte(sum);
  }
}

}  // namespace pointmap::resize_rows
#endif
