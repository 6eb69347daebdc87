#include "base/names.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace pointmap {

size_t index_of_name(std::span<const std::string_view> names, std::string_view word, std::string_view what) {
  const auto found = std::ranges::find(names, word);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  std::string known;
  for (const std::string_view name : names) known += (known.empty() ? "" : ", ") + std::string(name);
  throw Error{kInvalidArgument, std::string(what) + " '" + std::string(word) + "' is none of " + known};
}

std::set<size_t> indices_of_names(std::span<const std::string_view> names, std::string_view text, std::string_view what) {
  std::set<size_t> indices;
  if (text == "all") {
    for (size_t i = 0; i < names.size(); ++i) indices.insert(i);
    return indices;
  }
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    indices.insert(index_of_name(names, text.substr(begin, end - begin), what));
    begin = end + 1;
  }
  return indices;
}

}  // namespace pointmap
