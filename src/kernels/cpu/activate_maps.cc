#include "kernels/cpu/activate_maps.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/activate_maps.cc"  // NOLINT
#include "hwy/foreach_target.h"                            // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/math-inl.h"

#ifndef POINTMAP_KERNELS_CPU_ACTIVATE_MAPS_ONCE_
#define POINTMAP_KERNELS_CPU_ACTIVATE_MAPS_ONCE_
#include <algorithm>
#include <cstdint>
#endif

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {

using MapTag = hn::ScalableTag<float>;
using MapVector = hn::Vec<MapTag>;

HWY_INLINE MapVector confidence_of(MapVector c) {
  const MapTag d;
  return hn::Add(hn::Set(d, 2.0f), vector_expm1(d, c));
}

// sign(v) expm1(|v|)
HWY_INLINE MapVector inverse_log(MapVector v) {
  const MapTag d;
  return hn::CopySign(vector_expm1(d, hn::Abs(v)), v);
}

// Each: one vector of pixels, raw [lanes, kValues + 1] -> values [lanes, kValues], confidence [lanes].
struct PointmapExp {
  static constexpr int64_t kValues = 3;
  HWY_INLINE static void activate(const float* raw, float* points, float* confidence) {
    const MapTag d;
    MapVector x, y, z, c;
    hn::LoadInterleaved4(d, raw, x, y, z, c);
    const auto norm = hn::Sqrt(hn::MulAdd(x, x, hn::MulAdd(y, y, hn::Mul(z, z))));
    const auto factor = hn::Div(vector_expm1(d, norm), at_least(d, norm, 1e-8f));
    hn::StoreInterleaved3(hn::Mul(x, factor), hn::Mul(y, factor), hn::Mul(z, factor), d, points);
    hn::StoreU(confidence_of(c), d, confidence);
  }
};

struct PointmapInvLog {
  static constexpr int64_t kValues = 3;
  HWY_INLINE static void activate(const float* raw, float* points, float* confidence) {
    const MapTag d;
    MapVector x, y, z, c;
    hn::LoadInterleaved4(d, raw, x, y, z, c);
    hn::StoreInterleaved3(inverse_log(x), inverse_log(y), inverse_log(z), d, points);
    hn::StoreU(confidence_of(c), d, confidence);
  }
};

struct DepthExp {
  static constexpr int64_t kValues = 1;
  HWY_INLINE static void activate(const float* raw, float* depth, float* confidence) {
    const MapTag d;
    MapVector z, c;
    hn::LoadInterleaved2(d, raw, z, c);
    hn::StoreU(vector_exp(d, z), d, depth);
    hn::StoreU(confidence_of(c), d, confidence);
  }
};

template <typename Map>
HWY_INLINE void activate_range(const float* raw, int64_t count, float* values, float* confidence) {
  constexpr int64_t kValues = Map::kValues, kRaw = kValues + 1;
  const auto lanes = static_cast<int64_t>(hn::Lanes(MapTag()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) Map::activate(raw + kRaw * i, values + kValues * i, confidence + i);
  if (i == count) return;
  float last_raw[kRaw * HWY_LANES(float)] = {}, last_values[kValues * HWY_LANES(float)], last_confidence[HWY_LANES(float)];
  std::copy_n(raw + kRaw * i, kRaw * (count - i), last_raw);
  Map::activate(last_raw, last_values, last_confidence);
  std::copy_n(last_values, kValues * (count - i), values + kValues * i);
  std::copy_n(last_confidence, count - i, confidence + i);
}

void pointmap_exp_range(const float* raw, int64_t count, float* points, float* confidence) {
  activate_range<PointmapExp>(raw, count, points, confidence);
}
void pointmap_inv_log_range(const float* raw, int64_t count, float* points, float* confidence) {
  activate_range<PointmapInvLog>(raw, count, points, confidence);
}
void depth_exp_range(const float* raw, int64_t count, float* depth, float* confidence) {
  activate_range<DepthExp>(raw, count, depth, confidence);
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pointmap::cpu {
namespace {

HWY_EXPORT(pointmap_exp_range);
HWY_EXPORT(pointmap_inv_log_range);
HWY_EXPORT(depth_exp_range);

using ActivateRange = void (*)(const float* raw, int64_t count, float* values, float* confidence);

void activate(ThreadPool& pool, TensorView raw, ActivateRange activate_pixels, Tensor& values, Tensor& confidence) {
  constexpr int64_t kPixelsPerTask = 1 << 14;
  const int64_t num_pixels = raw.num_rows(), num_raw = raw.shape()[-1];
  const float* const in = raw.data<float>();
  float *const out = values.data<float>(), *const conf = confidence.data<float>();
  pool.parallel_for(static_cast<size_t>((num_pixels + kPixelsPerTask - 1) / kPixelsPerTask), [&](size_t task, size_t) {
    const int64_t begin = static_cast<int64_t>(task) * kPixelsPerTask;
    activate_pixels(in + num_raw * begin, std::min(kPixelsPerTask, num_pixels - begin), out + (num_raw - 1) * begin, conf + begin);
  });
}

}  // namespace

void activate_pointmap_exp(ThreadPool& pool, TensorView raw, Pointmap& out) {
  activate(pool, raw, HWY_DYNAMIC_DISPATCH(pointmap_exp_range), out.points, out.confidence);
}

void activate_pointmap_inv_log(ThreadPool& pool, TensorView raw, Pointmap& out) {
  activate(pool, raw, HWY_DYNAMIC_DISPATCH(pointmap_inv_log_range), out.points, out.confidence);
}

void activate_depth_exp(ThreadPool& pool, TensorView raw, Depthmap& out) {
  activate(pool, raw, HWY_DYNAMIC_DISPATCH(depth_exp_range), out.depth, out.confidence);
}

}  // namespace pointmap::cpu
#endif
