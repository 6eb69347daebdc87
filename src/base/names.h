// Words that users choose from.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string_view>

namespace pointmap {

// Where `word` stands in `names`, which are those of an enumeration in its order. Throws Error{kInvalidArgument}
// "WHAT 'word' is none of a, b, c".
size_t index_of_name(std::span<const std::string_view> names, std::string_view word, std::string_view what);

// The same for some of the names separated by commas, in any order, or "all".
std::set<size_t> indices_of_names(std::span<const std::string_view> names, std::string_view text, std::string_view what);

}  // namespace pointmap
