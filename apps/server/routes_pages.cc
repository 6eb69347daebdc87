// What the program carries with it: the description of its interface, and the page for people.
#include "apps/server/pages.h"
#include "apps/server/routes.h"

namespace pointmap::server {

void add_page_routes(Router& router) {
  router.add({"GET", "/openapi.json", [](const HttpRequest&) { return HttpResponse{.body = std::string(openapi_json())}; }});
  const auto index = [](const HttpRequest&) {
    HttpResponse response{.content_type = "text/html; charset=utf-8", .body = std::string(index_html())};
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    return response;
  };
  router.add({"GET", "/", index, /*is_open=*/true});
}

}  // namespace pointmap::server
