#include "apps/server/router.h"

#include <optional>

#include "apps/server/api_error.h"

namespace pointmap::server {

namespace {

using Parameters = std::map<std::string, std::string>;

// The part up to the next '/', which is taken from `path`.
std::string_view next_part(std::string_view& path) {
  path.remove_prefix(1);
  const size_t end = std::min(path.find('/'), path.size());
  const std::string_view part = path.substr(0, end);
  path.remove_prefix(end);
  return part;
}

std::optional<Parameters> match(std::string_view pattern, std::string_view path) {
  Parameters parameters;
  while (!pattern.empty() && !path.empty()) {
    const std::string_view want = next_part(pattern);
    const std::string_view got = next_part(path);
    if (want.starts_with('{')) {
      if (got.empty()) return std::nullopt;
      parameters[std::string(want.substr(1, want.size() - 2))] = got;
    } else if (want != got) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return parameters;
}

}  // namespace

FoundRoute Router::find(std::string_view method, std::string_view path) const {
  if (method == "HEAD") method = "GET";
  constexpr size_t kMaxPathBytes = 1024;  // ours are far shorter
  bool path_is_known = false;
  if (path.size() <= kMaxPathBytes && path.starts_with('/')) {
    for (const Route& route : routes_) {
      std::optional<Parameters> parameters = match(route.pattern, path);
      if (!parameters) continue;
      path_is_known = true;
      if (route.method == method) return {&route, std::move(*parameters)};
    }
  }
  if (path_is_known) throw ApiError{405, "method_not_allowed", "no " + std::string(method) + " here"};
  throw ApiError{404, "not_found", "no such path"};
}

}  // namespace pointmap::server
