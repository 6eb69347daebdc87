// Which handler answers a method and a path. A path is found by comparing its parts: no expressions that a long path could make slow.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/server/http_message.h"

namespace pointmap::server {

using Handler = std::function<HttpResponse(const HttpRequest&)>;

struct Route {
  std::string method;
  std::string pattern;  // "/v1/jobs/{id}"
  Handler handler;
  bool is_open = false;  // answered without a key
};

struct FoundRoute {
  const Route* route = nullptr;
  std::map<std::string, std::string> path_parameters;
};

class Router {
 public:
  // Before the server starts; routes keep their address from then on.
  void add(Route route) { routes_.push_back(std::move(route)); }

  // HEAD finds the route of GET. Throws ApiError 404 for a path that no route has, 405 for another method.
  FoundRoute find(std::string_view method, std::string_view path) const;
  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

}  // namespace pointmap::server
