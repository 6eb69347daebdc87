// Order statistics of what a scene holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pointmap {

// The value below which `share` (0 to 1) of them lie. Values, at least one, are put into another order.
template <typename T>
double quantile(std::vector<T>& values, double share) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return static_cast<double>(*place);
}

}  // namespace pointmap
