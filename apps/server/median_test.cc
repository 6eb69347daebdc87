#include "apps/server/median.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace pointmap::server {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

double by_sorting(std::vector<float> values) {
  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  std::sort(values.begin(), values.end());
  const size_t upper = values.size() / 2, lower = (values.size() - 1) / 2;
  return (double{values[lower]} + double{values[upper]}) / 2;
}

TEST(Median, IsThatOfTheSortedValues) {
  std::mt19937 random(7);
  for (const float spread : {0.0F, 1e-6F, 1e-3F, 1.0F, 1e6F}) {
    for (const size_t count : {1, 2, 3, 4, 5, 100, 1001, 20000}) {
      std::normal_distribution<float> values(1.0F, spread);
      std::vector<float> drawn(count);
      for (float& value : drawn) value = values(random);
      EXPECT_EQ(median_of_finite(drawn), by_sorting(drawn)) << count << " values, spread " << spread;
    }
  }
}

TEST(Median, OfTwoFarApartIsBetweenThem) {
  EXPECT_EQ(median_of_finite(std::vector<float>{-1000, 3000}), 1000);
  EXPECT_EQ(median_of_finite(std::vector<float>{-1000, -1, 3, 3000}), 1);
  EXPECT_EQ(median_of_finite(std::vector<float>{-3, -2, -1}), -2);
  EXPECT_EQ(median_of_finite(std::vector<float>{0.0F, -0.0F, 0.0F, -0.0F}), 0);
}

TEST(Median, LeavesOutWhatIsNotFinite) {
  EXPECT_EQ(median_of_finite(std::vector<float>{kNan, 5, kInfinity, 7, -kInfinity, 6}), 6);
  EXPECT_EQ(median_of_finite(std::vector<float>{kNan, kInfinity}), std::nullopt);
  EXPECT_EQ(median_of_finite({}), std::nullopt);
}

}  // namespace
}  // namespace pointmap::server
