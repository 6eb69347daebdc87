// What sizes of a network are refused for, before anything is made of them. Upper bounds keep a hostile config.json from asking for
// terabytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pointmap {

// Throws Error{kUnsupported} "model configuration: WHAT".
[[noreturn]] void refuse_config(const std::string& what);

// Throws Error{kUnsupported} naming the value and its range.
void require_range(std::string_view name, int64_t value, int64_t low, int64_t high);

// Heads must divide the channels of `part`; with rotary embedding their size must be a multiple of 4 as well. Throws Error{kUnsupported}.
void require_heads(std::string_view part, int64_t dim, int64_t num_heads);
void require_rotary_heads(std::string_view part, int64_t dim, int64_t num_heads);

void require_rope_base(double base);

}  // namespace pointmap
