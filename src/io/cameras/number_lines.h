// Text files of numbers, so many to a line: trajectories and lenses. All distrust of such files lives here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pointmap {

inline constexpr size_t kMaxNumberLines = 1'000'000;

struct NumberLine {
  size_t line = 0;             // in the file, from 1
  std::vector<double> values;  // finite
};

// `layout` names the numbers of a line, separated by blanks: "fx fy cx cy". In the text they are separated by blanks, tabs or commas; what
// follows a # is a comment, empty lines are no matter. Throws Error{kCorruptData} naming file (file_name, for messages only), line and
// what is wrong with it, Error{kLimitExceeded} beyond kMaxNumberLines.
std::vector<NumberLine> parse_number_lines(std::string_view text, const std::string& file_name, std::string_view layout);

}  // namespace pointmap
