// What the program carries with it: the description of its interface, and the page for people.
#include "apps/server/pages.h"
#include "apps/server/routes.h"

namespace pointmap::server {

namespace {

// The page runs its own script and asks this server, nothing else: a name or a message that got into it as markup would stay without
// effect. Pictures are those chosen (blob:) and an empty icon (data:).
constexpr char kPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src blob: data:; base-uri 'none'; form-action "
    "'none'; "
    "frame-ancestors 'none'";

// Open, as a browser fetches them before it can send a key; there is nothing in them that is not in the program. `text` lives as long as
// it.
Route page_route(const std::string& path, const std::string& content_type, std::string_view text) {
  const auto handler = [content_type, text](const HttpRequest&) {
    HttpResponse response{.content_type = content_type, .body = std::string(text)};
    response.headers.emplace_back("Content-Security-Policy", kPolicy);
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    response.headers.emplace_back("Referrer-Policy", "no-referrer");
    response.headers.emplace_back("Cache-Control", "no-cache");  // another version of the program has another page
    return response;
  };
  return {"GET", path, handler, /*is_open=*/true};
}

}  // namespace

void add_page_routes(Router& router) {
  router.add({"GET", "/openapi.json", [](const HttpRequest&) { return HttpResponse{.body = std::string(openapi_json())}; }});
  router.add(page_route("/", "text/html; charset=utf-8", page_html()));
  router.add(page_route("/app.css", "text/css; charset=utf-8", page_style()));
  router.add(page_route("/app.js", "text/javascript; charset=utf-8", page_script()));
}

}  // namespace pointmap::server
