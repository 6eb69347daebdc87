#include "kernels/cpu/rope2d.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rope2d.cc"  // NOLINT
#include "hwy/foreach_target.h"                     // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// x: num_halves stretches of 2 quarter channels, rows' and columns' in turn; cos, sin: [2, quarter].
void rotate_token(float* HWY_RESTRICT x, int64_t num_halves, int64_t quarter, const float* HWY_RESTRICT cos,
                  const float* HWY_RESTRICT sin) {
  const hn::CappedTag<float, 8> d;  // a quarter is 16 or 8 channels in the models at hand: longer vectors would run empty
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t half = 0; half < num_halves; ++half, x += 2 * quarter) {
    const float* const half_cos = cos + half % 2 * quarter;
    const float* const half_sin = sin + half % 2 * quarter;
    int64_t k = 0;
    for (; k + lanes <= quarter; k += lanes) {
      const auto u = hn::LoadU(d, x + k), v = hn::LoadU(d, x + quarter + k);
      const auto c = hn::LoadU(d, half_cos + k), s = hn::LoadU(d, half_sin + k);
      hn::StoreU(hn::NegMulAdd(v, s, hn::Mul(u, c)), d, x + k);
      hn::StoreU(hn::MulAdd(u, s, hn::Mul(v, c)), d, x + quarter + k);
    }
    for (; k < quarter; ++k) {
      const float u = x[k], v = x[quarter + k];
      x[k] = u * half_cos[k] - v * half_sin[k];
      x[quarter + k] = v * half_cos[k] + u * half_sin[k];
    }
  }
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pointmap::cpu {
namespace {

HWY_EXPORT(rotate_token);

}  // namespace

void rope2d(ThreadPool& pool, Tensor& x, const RopeTable& table, RopeChannels channels) {
  const int64_t num_tokens = table.cos.shape()[0], row_floats = x.shape()[2], angles = table.cos.shape()[1];
  float* const first = x.data<float>() + channels.begin;
  const float *cos = table.cos.data<float>(), *sin = table.sin.data<float>();
  const auto rotate = HWY_DYNAMIC_DISPATCH(rotate_token);
  pool.parallel_for(static_cast<size_t>(x.view().num_rows()), [&](size_t task, size_t) {
    const auto row = static_cast<int64_t>(task);
    const int64_t angle = row % num_tokens * angles;
    rotate(first + row * row_floats, 2 * channels.num_heads, angles / 2, cos + angle, sin + angle);
  });
}

}  // namespace pointmap::cpu
#endif
