#include "scene/array_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"

namespace pointmap {

namespace {

bool is_same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// The middle value, or the mean of the two middle ones.
double median_of(std::vector<double>& values) {
  if (values.empty()) return kUndefined;
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  const double lower = *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle));
  return lower + (upper - lower) / 2;
}

double ratio(double numerator, double denominator) {
  if (denominator > 0) return numerator / denominator;
  return numerator > 0 ? std::numeric_limits<double>::infinity() : 0;
}

template <typename T>
std::vector<double> widen(const NpzArray& array) {
  std::vector<double> values(array.bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, array.bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

}  // namespace

ArrayMetrics measure(std::span<const double> a, std::span<const double> b, const std::vector<bool>& is_z) {
  POINTMAP_CHECK(a.size() == b.size() && (is_z.empty() || is_z.size() == a.size()),
                 "arrays of " + std::to_string(a.size()) + " and " + std::to_string(b.size()) + " elements cannot be compared");
  ArrayMetrics m;
  m.count = a.size();
  double sum_a = 0, sum_b = 0, sum_bb = 0, sum_dd = 0, max_abs = 0;
  std::vector<double> dz_over_z;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same = is_same(a[i], b[i]);
    m.num_different += !same;
    const bool a_finite = std::isfinite(a[i]), b_finite = std::isfinite(b[i]);
    m.num_nonfinite_a += !a_finite;
    m.num_nonfinite_b += !b_finite;
    if (!a_finite || !b_finite) {
      m.num_nonfinite_mismatch += !same;
      continue;
    }
    ++m.count_finite;
    const double difference = a[i] - b[i];
    sum_a += a[i];
    sum_b += b[i];
    sum_bb += b[i] * b[i];
    sum_dd += difference * difference;
    max_abs = std::max(max_abs, std::abs(difference));
    if (!is_z.empty() && is_z[i] && b[i] != 0) dz_over_z.push_back(std::abs(difference / b[i]));
  }
  if (m.count_finite == 0) return m;
  const auto n = static_cast<double>(m.count_finite);
  m.max_abs_diff = max_abs;
  m.rms_diff = std::sqrt(sum_dd / n);
  m.relative_error = ratio(std::sqrt(sum_dd), std::sqrt(sum_bb));
  m.median_abs_dz_over_z = median_of(dz_over_z);

  // Second pass around the means: the one-pass formula cancels when the mean is far from zero.
  double cov = 0, var_a = 0, var_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
    const double da = a[i] - sum_a / n, db = b[i] - sum_b / n;
    cov += da * db;
    var_a += da * da;
    var_b += db * db;
  }
  if (sum_dd == 0) {
    m.pcc = 1;
  } else if (var_a > 0 && var_b > 0) {
    m.pcc = cov / (std::sqrt(var_a) * std::sqrt(var_b));
  }
  return m;
}

std::vector<double> doubles_of(const NpzArray& array) {
  switch (array.dtype) {
    case DType::kF64:
      return widen<double>(array);
    case DType::kF32:
      return widen<float>(array);
    case DType::kI64:
      return widen<int64_t>(array);
    case DType::kI32:
      return widen<int32_t>(array);
    case DType::kI16:
      return widen<int16_t>(array);
    case DType::kI8:
      return widen<int8_t>(array);
    case DType::kU64:
      return widen<uint64_t>(array);
    case DType::kU32:
      return widen<uint32_t>(array);
    case DType::kU16:
      return widen<uint16_t>(array);
    case DType::kU8:
      return widen<uint8_t>(array);
    case DType::kBool:
      return widen<uint8_t>(array);
    case DType::kF16: {
      std::vector<double> values = widen<uint16_t>(array);
      for (double& value : values) value = float_from_f16(static_cast<uint16_t>(value));
      return values;
    }
    case DType::kBF16:
      break;  // NumPy has none, so no npz file holds one
  }
  throw Error{kUnsupported, "array '" + array.name + "' of type " + std::string(dtype_name(array.dtype)) + " cannot be compared"};
}

}  // namespace pointmap
