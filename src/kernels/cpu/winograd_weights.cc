// Weights of a convolution into the points of F(4, 3), in double, rounded once.
#include <array>
#include <vector>

#include "base/check.h"
#include "kernels/cpu/pack_weights.h"
#include "kernels/cpu/winograd.h"
#include "kernels/cpu/winograd_points.h"

namespace pointmap::cpu {
namespace {

// Inputs come in whole vectors of every instruction set.
constexpr int64_t kMaxLanes = 16;
// Fewer channels have too few products to pay for the transforms. More are found at the coarser levels of a pyramid only, where
// the time is small and weights four times as large show in memory: VGGT-1B has 5 % of its products there, for 140 MB.
constexpr int64_t kMinChannels = 32;
constexpr int64_t kMaxInChannels = 256;

using Line = std::array<double, 3>;

// One row of G for every point: 1, p, p^2 over the product of p's differences to the other points.
std::array<Line, kPatchSide> make_g() {
  const double a = kPointA, b = kPointB;
  const auto row = [](double p, double n) { return Line{1 / n, p / n, p * p / n}; };
  const double at_a = 2 * a * a * (a * a - b * b), at_b = 2 * b * b * (b * b - a * a);
  return {row(0, a * a * b * b), row(a, at_a), row(-a, at_a), row(b, at_b), row(-b, at_b), Line{0, 0, 1}};
}

double dot(const Line& g, double x, double y, double z) {
  return g[0] * x + g[1] * y + g[2] * z;
}

// points[i * 6 + j][c] = (G g G^T)[i][j] for the kernel g of every channel, its nine pixels in kernels[pixel][c]. Channels innermost, for
// the compiler's vectors.
void transform_kernels(const float* kernels, int64_t num_channels, const std::array<Line, kPatchSide>& g, float* points) {
  for (const Line& v : g) {
    for (const Line& h : g) {
      for (int64_t c = 0; c < num_channels; ++c) {
        const auto line = [&](int64_t y) {
          const float* pixel = kernels + 3 * y * num_channels + c;
          return dot(h, pixel[0], pixel[num_channels], pixel[2 * num_channels]);
        };
        points[c] = static_cast<float>(dot(v, line(0), line(1), line(2)));
      }
      points += num_channels;
    }
  }
}

}  // namespace

bool winograd_fits(const Shape& weight, ConvGeometry geometry) {
  return weight[2] == 3 && weight[3] == 3 && geometry.stride == 1 && geometry.padding == 1 && weight[0] >= kMinChannels &&
         weight[1] >= kMinChannels && weight[1] <= kMaxInChannels && weight[1] % kMaxLanes == 0;
}

int64_t winograd_elements(const Shape& weight) {
  return kNumPoints * weight[0] * weight[1];
}

PackedWeights pack_winograd(TensorView weight, TensorView bias, const OpsContext& context) {
  const WeightSource source = conv_source(weight, bias);
  POINTMAP_CHECK(source.num_taps == 9, "pack_winograd: weight is " + weight.shape().to_string() + ", want a kernel of 3 x 3");
  const int64_t channels = source.num_channels;
  Tensor transformed(context.activations, DType::kF32, {source.num_columns, kNumPoints * channels});
  Tensor kernels(context.activations, DType::kF32, {static_cast<int64_t>(context.pool.num_threads()), 9 * channels});
  const std::array<Line, kPatchSide> g = make_g();
  context.pool.parallel_for(static_cast<size_t>(source.num_columns), [&](size_t column, size_t worker) {
    const auto n = static_cast<int64_t>(column);
    float* row = kernels.data<float>() + static_cast<int64_t>(worker) * 9 * channels;
    read_weight_row(source, 0, n, row);
    transform_kernels(row, channels, g, transformed.data<float>() + n * kNumPoints * channels);
  });
  return pack_weights(linear_source(transformed, bias), context);
}

}  // namespace pointmap::cpu
