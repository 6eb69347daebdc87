#include "nn/rope2d.h"

#include <cmath>
#include <vector>

namespace pointmap {

RopeTable make_rope_table(Ops& ops, const RopePositions& positions, int64_t head_dim, double base) {
  const auto& [grid, first, num_still] = positions;
  const int64_t num_frequencies = head_dim / 4;
  const int64_t num_angles = 2 * num_frequencies;  // row angles, then column angles
  const int64_t num_tokens = num_still + grid.num_patches();
  std::vector<float> cosines(static_cast<size_t>(num_tokens * num_angles), 1.0f);
  std::vector<float> sines(cosines.size(), 0.0f);
  for (int64_t k = 0; k < num_frequencies; ++k) {
    // The reference has frequencies and angles in float32, also in its float64 run; only then come cos and sin.
    const float power = static_cast<float>(std::pow(base, 4.0 * static_cast<double>(k) / static_cast<double>(head_dim)));
    const float frequency = 1.0f / power;
    for (int64_t y = 0; y < grid.height; ++y) {
      for (int64_t x = 0; x < grid.width; ++x) {
        const size_t row = static_cast<size_t>((num_still + y * grid.width + x) * num_angles);
        const double row_angle = static_cast<float>(first + y) * frequency;
        const double column_angle = static_cast<float>(first + x) * frequency;
        cosines[row + static_cast<size_t>(k)] = static_cast<float>(std::cos(row_angle));
        sines[row + static_cast<size_t>(k)] = static_cast<float>(std::sin(row_angle));
        cosines[row + static_cast<size_t>(num_frequencies + k)] = static_cast<float>(std::cos(column_angle));
        sines[row + static_cast<size_t>(num_frequencies + k)] = static_cast<float>(std::sin(column_angle));
      }
    }
  }
  const Shape shape{num_tokens, num_angles};
  return {.cos = ops.upload(TensorView(cosines.data(), DType::kF32, shape)),
          .sin = ops.upload(TensorView(sines.data(), DType::kF32, shape))};
}

}  // namespace pointmap
