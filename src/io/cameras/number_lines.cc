#include "io/cameras/number_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace pointmap {
namespace {

constexpr size_t kMaxQuoted = 40;  // characters of a wrong word in a message

bool is_separator(char c) {
  return c == ' ' || c == '\t' || c == ',' || c == '\r';
}

// Cuts the first word off `line`; empty when there is none.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(static_cast<size_t>(std::ranges::find_if_not(line, is_separator) - line.begin()));
  const std::string_view word = line.substr(0, static_cast<size_t>(std::ranges::find_if(line, is_separator) - line.begin()));
  line.remove_prefix(word.size());
  return word;
}

// Not "'" + std::string: GCC 12 warns of an overlap that is none.
std::string quoted(std::string_view text) {
  return std::string("'").append(text).append("'");
}

size_t count_words(std::string_view text) {
  size_t count = 0;
  while (!take_word(text).empty()) ++count;
  return count;
}

}  // namespace

std::vector<NumberLine> parse_number_lines(std::string_view text, const std::string& file_name, std::string_view layout) {
  const size_t wanted = count_words(layout);
  std::vector<NumberLine> lines;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    const auto fail = [&](const std::string& what) {
      throw Error{kCorruptData, quoted(file_name) + ", line " + std::to_string(number) + ": " + what + "; wanted " + quoted(layout)};
    };
    NumberLine result{.line = number, .values = {}};
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      const char* begin = word.data() + (word.starts_with('+') ? 1 : 0);
      double value = 0;
      const auto [stop, error] = std::from_chars(begin, word.data() + word.size(), value);
      if (error != std::errc() || stop != word.data() + word.size() || !std::isfinite(value))
        fail(quoted(word.substr(0, kMaxQuoted)) + " is no finite number");
      result.values.push_back(value);
      if (result.values.size() > wanted) fail("more than " + std::to_string(wanted) + " numbers");
    }
    if (result.values.empty()) continue;
    if (result.values.size() < wanted) fail("only " + std::to_string(result.values.size()) + " of " + std::to_string(wanted) + " numbers");
    if (lines.size() == kMaxNumberLines)
      throw Error{kLimitExceeded, quoted(file_name) + " has more than " + std::to_string(kMaxNumberLines) + " lines of numbers"};
    lines.push_back(std::move(result));
  }
  return lines;
}

}  // namespace pointmap
