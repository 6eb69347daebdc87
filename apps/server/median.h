// The median of a map of floats, which every answer of /predict states: by counting, since partial sorting took as long as all other work
// on the answer.
#pragma once

#include <optional>
#include <span>

namespace pointmap::server {

// As numpy.median of the finite ones: of an even number the mean of the middle two. Nothing without any.
std::optional<double> median_of_finite(std::span<const float> values);

}  // namespace pointmap::server
