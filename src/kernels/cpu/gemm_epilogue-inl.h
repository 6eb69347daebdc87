// From finished sums to C: bias, activation, residual, one write. Included once per instruction set, see gemm.cc.
#if defined(POINTMAP_KERNELS_CPU_GEMM_EPILOGUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef POINTMAP_KERNELS_CPU_GEMM_EPILOGUE_INL_H_
#undef POINTMAP_KERNELS_CPU_GEMM_EPILOGUE_INL_H_
#else
#define POINTMAP_KERNELS_CPU_GEMM_EPILOGUE_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/cpu/gemm_tile-inl.h"
#include "kernels/cpu/math-inl.h"
#include "kernels/ops.h"

HWY_BEFORE_NAMESPACE();
namespace pointmap::cpu::HWY_NAMESPACE {

template <Activation kActivation>
HWY_INLINE VF activate(VF x) {
  const DF d;
  if constexpr (kActivation == Activation::kRelu) return hn::Max(x, hn::Zero(d));
  if constexpr (kActivation == Activation::kGelu) return vector_gelu(d, x);
  if constexpr (kActivation == Activation::kSilu) return vector_silu(d, x);
  return x;
}

// pick(constant) for the activation's constant, of which a template argument can be made.
template <typename Pick>
auto pick_for(Activation activation, const Pick& pick) {
  switch (activation) {
    case Activation::kRelu:
      return pick(std::integral_constant<Activation, Activation::kRelu>());
    case Activation::kGelu:
      return pick(std::integral_constant<Activation, Activation::kGelu>());
    case Activation::kSilu:
      return pick(std::integral_constant<Activation, Activation::kSilu>());
    case Activation::kNone:
      break;
  }
  return pick(std::integral_constant<Activation, Activation::kNone>());
}

// What is added after the activation: nothing when data is null, max(data, 0) when relu.
struct Residual {
  const float* data = nullptr;
  bool relu = false;

  Residual from(int64_t column) const { return {data == nullptr ? nullptr : data + column, relu}; }
  HWY_INLINE VF add_to(VF y, VF residual) const { return hn::Add(y, relu ? hn::Max(residual, hn::Zero(DF())) : residual); }
};

// `width` <= kLanes elements. A partial vector goes through a buffer: masked stores of some instruction sets read and write
// back the neighbours, which belong to another thread.
template <Activation kActivation>
HWY_INLINE void finish_vector(VF sum, Residual residual, int64_t width, float* to) {
  const DF d;
  VF y = activate<kActivation>(sum);
  if (width == kLanes) {
    if (residual.data != nullptr) y = residual.add_to(y, hn::LoadU(d, residual.data));
    hn::StoreU(y, d, to);
    return;
  }
  HWY_ALIGN float buffer[kLanes] = {};
  if (residual.data != nullptr) {
    std::memcpy(buffer, residual.data, static_cast<size_t>(width) * sizeof(float));
    y = residual.add_to(y, hn::Load(d, buffer));
  }
  hn::Store(y, d, buffer);
  std::memcpy(to, buffer, static_cast<size_t>(width) * sizeof(float));
}

// Writes one row of a panel: sums and bias [kPanelWidth], the first `width` columns to `to`.
template <Activation kActivation>
HWY_INLINE void finish_row(const float* HWY_RESTRICT sums, const float* HWY_RESTRICT bias, Residual residual, int64_t width, float* to) {
  const DF d;
  for (int64_t n = 0; n < width; n += kLanes) {
    const VF sum = hn::Add(hn::Load(d, sums + n), hn::Load(d, bias + n));
    finish_vector<kActivation>(sum, residual.from(n), std::min(kLanes, width - n), to + n);
  }
}

}  // namespace pointmap::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
