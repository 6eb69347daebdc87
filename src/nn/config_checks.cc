#include "nn/config_checks.h"

#include "base/error.h"

namespace pointmap {
namespace {

void require_head_size(std::string_view part, int64_t dim, int64_t num_heads, int64_t multiple, const std::string& why) {
  if (dim % num_heads == 0 && dim / num_heads % multiple == 0) return;
  refuse_config(std::string(part) + " of " + std::to_string(dim) + " channels and " + std::to_string(num_heads) +
                " heads: the head size must be a whole multiple of " + std::to_string(multiple) + why);
}

}  // namespace

void refuse_config(const std::string& what) {
  throw Error{kUnsupported, "model configuration: " + what};
}

void require_range(std::string_view name, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return;
  refuse_config(std::string(name) + " is " + std::to_string(value) + ", want " + std::to_string(low) + " to " + std::to_string(high));
}

void require_heads(std::string_view part, int64_t dim, int64_t num_heads) {
  require_head_size(part, dim, num_heads, 1, "");
}

void require_rotary_heads(std::string_view part, int64_t dim, int64_t num_heads) {
  require_head_size(part, dim, num_heads, 4, " (rotary embedding)");
}

void require_rope_base(double base) {
  if (!(base > 1 && base < 1e9)) refuse_config("RoPE base " + std::to_string(base));
}

}  // namespace pointmap
