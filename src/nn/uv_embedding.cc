#include "nn/uv_embedding.h"

#include <cmath>
#include <vector>

#include "base/check.h"

namespace pointmap {
namespace {

// [count, 2 n]: sin and cos of positions from -span to span, at the middles of `count` equal parts.
Tensor sines_and_cosines(Ops& ops, double span, int64_t count, int64_t n, double scale) {
  std::vector<float> values;
  values.reserve(static_cast<size_t>(2 * n * count));
  for (int64_t i = 0; i < count; ++i) {
    const double position = span * static_cast<double>(2 * i + 1 - count) / static_cast<double>(count);
    const auto angle = [&](int64_t k) { return position * std::pow(100.0, -static_cast<double>(k) / static_cast<double>(n)); };
    for (int64_t k = 0; k < n; ++k) values.push_back(static_cast<float>(scale * std::sin(angle(k))));
    for (int64_t k = 0; k < n; ++k) values.push_back(static_cast<float>(scale * std::cos(angle(k))));
  }
  return ops.upload(TensorView(values.data(), DType::kF32, {count, 2 * n}));
}

}  // namespace

UvEmbedding::UvEmbedding(Ops& ops, const UvGrid& grid, int64_t channels, double scale) {
  POINTMAP_CHECK(channels > 0 && channels % 4 == 0, "UV embedding of " + std::to_string(channels) + " channels: want a multiple of 4");
  const double diagonal = std::sqrt(grid.aspect * grid.aspect + 1);
  by_column_ = sines_and_cosines(ops, grid.aspect / diagonal, grid.width, channels / 4, scale);
  by_row_ = sines_and_cosines(ops, 1 / diagonal, grid.height, channels / 4, scale);
}

}  // namespace pointmap
