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

}  // namespace pointmap
